/** A number as people read it: at most two decimals, and no minus before a zero. */
export function amount(value: number): string {
  return format.format(rounded(value));
}

const format = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

export function rounded(value: number): number {
  const twoDecimals = Math.round(value * 100) / 100;
  // The largest numbers have no decimals, and would become infinite.
  return (Number.isFinite(twoDecimals) ? twoDecimals : value) || 0;
}

export function percent(part: number, whole: number): string {
  return `${amount((part / whole) * 100)}%`;
}

/** How much of a foreign text is shown, in characters. */
const shownMax = 40;

/**
 * A name that somebody typed, as a part of our sentence. It stays in its place and short: without control characters and
 * marks that turn the direction of what follows. All but plain words stand in quotation marks.
 */
export function named(text: string): string {
  // Twice as many characters are looked at as are shown, however long the text is.
  const visible = text
    .slice(0, 4 * shownMax)
    .toWellFormed()
    .replace(/[\p{C}\p{Zl}\p{Zp}\u{fffd}]/gu, " ")
    .replace(/[“”"„‟«»]/g, "'")
    .replace(/(\p{M}{3})\p{M}+/gu, "$1")
    .split(/\s+/)
    .filter((word) => word !== "")
    .join(" ");
  const characters = [...visible];
  const isCut = characters.length > shownMax || text.length > 4 * shownMax;
  const short = isCut ? `${characters.slice(0, shownMax - 1).join("")}…` : visible;
  if (short === "") return "“”";
  if (plainWords.test(short)) return short;
  return turnsDirection.test(short) ? `“\u2068${short}\u2069”` : `“${short}”`;
}

const plainWords = /^\p{Script=Latin}[\p{Script=Latin} '-]*$/u;

/** Letters that are written from right to left; isolates keep what stands around them in its order. */
const turnsDirection = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** `Germany`, `Germany and France`, `Germany, France and Spain`. */
export function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

/** A moment of the workspace's calendar: a day, or an hour where intervals are shorter. */
export function momentFormat(timezone: string, withTime: boolean): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-GB", {
    timeZone: timezone,
    dateStyle: "long",
    ...(withTime && { timeStyle: "short" }),
  });
}
