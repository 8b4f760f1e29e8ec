import { textWidth } from "./text-widths.ts";

/** So many code units of a label are looked at. */
const lookedAt = 250;
const graphemesMax = 120;

/**
 * Whatever is seen as nothing or changes how its neighbors are read: controls, marks of direction, halves of pairs,
 * spaces and fillers. The joiner stays, because emoji and some scripts need it.
 */
const unshown = /(?!\u200d)[\p{C}\p{Z}\u115f\u1160\u3164\uffa0]/gu;
/** Letters carry one or two marks in every language; a tower of marks would cover the lines above and below. */
const towers = /(\p{M}{2})\p{M}+/gu;

/** A text of foreign origin as one short line that is safe to show. */
export function oneLine(text: string): string {
  const plain = text.slice(0, lookedAt).replace(unshown, " ").replace(towers, "$1");
  return plain.replace(/ {2,}/g, " ").trim();
}

/** Cuts a clean text so that it fits a width in pixels. Empty where not even one character fits. */
export function fitted(text: string, width: number, size: number, isBold = false): string {
  if (text.length <= graphemesMax && textWidth(text, size, isBold) <= width) return text;
  let cut = "";
  let used = textWidth("…", size, isBold);
  let count = 0;
  for (const { segment } of graphemes(text)) {
    used += textWidth(segment, size, isBold);
    count += 1;
    if (used > width || count > graphemesMax) break;
    cut += segment;
  }
  return cut === "" ? "" : `${cut.trimEnd()}…`;
}

let segmenter: Intl.Segmenter | undefined;

function graphemes(text: string): Iterable<{ readonly segment: string }> {
  // Made on demand: it takes 10 ms, and most texts fit.
  segmenter ??= new Intl.Segmenter("en");
  return segmenter.segment(text);
}
