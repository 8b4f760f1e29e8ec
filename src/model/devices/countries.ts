/** ISO 3166-1 alpha-2. */
export const countryCodes: readonly string[] = (
  "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC " +
  "CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD " +
  "GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH " +
  "KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW " +
  "MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC " +
  "SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY " +
  "UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW"
).split(" ");

/** What people write for a country in place of its English name. */
const otherNames: readonly (readonly [name: string, code: string])[] = [
  ["USA", "US"],
  ["U.S.", "US"],
  ["United States of America", "US"],
  ["UK", "GB"],
  ["Great Britain", "GB"],
  ["UAE", "AE"],
  ["Czech Republic", "CZ"],
  ["Turkey", "TR"],
  ["The Netherlands", "NL"],
  ["Holland", "NL"],
  ["Bosnia and Herzegovina", "BA"],
  ["Ivory Coast", "CI"],
  ["Burma", "MM"],
  ["Hong Kong", "HK"],
];

let known: { readonly pattern: RegExp; readonly codes: ReadonlyMap<string, string> } | undefined;

/**
 * The codes of the countries that an English text names, each once. A bare code, such as `IT`, does not count, because
 * it may be a word.
 */
export function countriesNamedIn(text: string): ReadonlySet<string> {
  known ??= readNames();
  const { pattern, codes } = known;
  const found = [...text.matchAll(pattern)].map(([name]) => codes.get(name.toLowerCase()));
  return new Set(found.filter((code) => code !== undefined));
}

function readNames() {
  const names = new Intl.DisplayNames("en", { type: "region" });
  const codes = new Map(
    [...countryCodes.map((code) => [names.of(code) ?? code, code] as const), ...otherNames].map(
      ([name, code]) => [name.toLowerCase(), code],
    ),
  );
  // The longest come first: Papua New Guinea is not Guinea.
  const byLength = [...codes.keys()]
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return {
    pattern: new RegExp(`(?<![\\p{L}\\p{N}])(?:${byLength.join("|")})(?![\\p{L}\\p{N}])`, "giu"),
    codes,
  };
}
