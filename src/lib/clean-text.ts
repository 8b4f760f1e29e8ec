import { composed } from "./compose.ts";

/** The text trimmed, in one Unicode form, with line feeds as its only line breaks, and without control characters. */
export function cleanText(text: string): string {
  const plain = text
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
  return composed(plain).trim();
}

/** A name as people are shown it: one line, without invisible marks and those that turn the direction of writing. */
export function shownName(text: string): string {
  return cleanText(text)
    .replace(/[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** As many whole characters as `bytesMax` bytes of UTF-8 have room for. */
export function clipBytes(text: string, bytesMax: number): string {
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 <= bytesMax) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytesMax));
  return text.slice(0, read);
}
