/** The languages that pages may be written in, by the primary subtag of BCP 47. */
export const languages = [
  "ar",
  "de",
  "en",
  "es",
  "fa",
  "fr",
  "he",
  "hi",
  "it",
  "ja",
  "nl",
  "pl",
  "pt",
  "tr",
  "ur",
  "zh",
] as const;

export type Language = (typeof languages)[number];

const rightToLeft: ReadonlySet<Language> = new Set<Language>(["ar", "fa", "he", "ur"]);

/** The language of an `Accept-Language` header that the visitor prefers among those given; English when there is none. */
export function pickLanguage<Offered extends Language>(
  header: string | undefined,
  offered: ReadonlySet<Offered | "en">,
): Offered | "en" {
  // Browsers send fewer than 100 bytes, so a longer header is not read to its end.
  const ranges = (header ?? "").slice(0, 500).split(",");
  let best: Offered | "en" = "en";
  let bestWeight = 0;
  for (const range of ranges) {
    const [tag = "", ...parameters] = range
      .toLowerCase()
      .split(";")
      .map((part) => part.trim());
    const primary = tag.split("-", 1)[0] ?? "";
    // The code of Hebrew until 1989, which some Java systems still send.
    const name = primary === "iw" ? "he" : primary;
    const weight = weightOf(parameters);
    const language = offered.has(name as Offered) ? (name as Offered) : undefined;
    if (weight <= bestWeight || language === undefined) continue;
    best = language;
    bestWeight = weight;
  }
  return best;
}

function weightOf(parameters: readonly string[]): number {
  const quality = parameters.find((parameter) => parameter.startsWith("q="));
  return quality === undefined ? 1 : Number(quality.slice(2)) || 0;
}

export function directionOf(language: Language): "ltr" | "rtl" {
  return rightToLeft.has(language) ? "rtl" : "ltr";
}

/** Seconds from now in words, such as "in 5 seconds" or "in 15 Minuten". */
export function inWords(language: Language, seconds: number): string {
  const format = new Intl.RelativeTimeFormat(language);
  return seconds < 120 ? format.format(seconds, "second") : format.format(Math.ceil(seconds / 60), "minute");
}
