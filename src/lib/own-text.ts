/**
 * A copy of a text, for what is kept: a part that was cut out of a text keeps all of it in memory, and the header that an
 * address or a name was cut out of may be a hundred times as long. Halves of surrogate pairs are replaced.
 */
export function ownText(text: string): string {
  return Buffer.from(text).toString();
}
