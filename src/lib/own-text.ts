/**
 * Copies a text that is to be kept: a substring keeps its whole original text in memory, and the header that an address
 * or a name was cut from may be a hundred times as long. Halves of surrogate pairs are replaced.
 */
export function ownText(text: string): string {
  return Buffer.from(text).toString();
}
