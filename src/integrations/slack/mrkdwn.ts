/** How many characters of a foreign text are shown. Escaped, each may take five, and Slack's fields take 2,000. */
const shownMax = 300;

/** What would break a line, or turn the direction of what follows. */
const breaking = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

/**
 * Makes any text one short line of Slack's mrkdwn that shows it as it is. Escaped, it contains no control sequence: no
 * link and no mention. Its place must be `verbatim`, or Slack would make links of addresses in it.
 */
export function mrkdwn(text: string): string {
  // The first cut bounds the work; a character has two units at most.
  const line = text
    .slice(0, 4 * shownMax)
    .toWellFormed()
    .replace(breaking, " ")
    .trim();
  const characters = Array.from(line);
  const isShown = characters.length <= shownMax && text.length <= 4 * shownMax;
  return escaped(isShown ? line : `${characters.slice(0, shownMax - 1).join("")}…`);
}

/** Slack's three control characters, as it documents them. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** A link; only its text when the address cannot stand in one. */
export function linkTo(url: string, text: string): string {
  const isPlain = url.length <= 2_000 && /^https?:\/\/[^\s<>|]+$/.test(url);
  return isPlain ? `<${url.replaceAll("&", "&amp;")}|${mrkdwn(text)}>` : mrkdwn(text);
}

/** A time, which each reader sees in the own time zone. */
export function localTime(at: Date): string {
  const utc = `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return `<!date^${Math.floor(at.getTime() / 1000)}^{date_short_pretty} {time}|${utc}>`;
}
