import { printable } from "./outcome.ts";

/** A column of a table with the texts of its first rows. */
export interface Column {
  readonly header: string;
  readonly cells: readonly string[];
  /** Whether a text may be cut; ids may not. */
  readonly canCut: boolean;
}

/** The columns that are shown, and their widths. */
export interface TableLayout {
  /** The indexes of the shown columns among the offered ones. */
  readonly shown: readonly number[];
  readonly widths: readonly number[];
}

const cellWidthMax = 48;
const gap = "  ";

/** Chooses columns in their order while they fit the width in characters; leaves empty ones out. */
export function layOutColumns(columns: readonly Column[], width: number): TableLayout {
  const shown: number[] = [];
  const widths: number[] = [];
  let used = 0;
  for (const [index, { header, cells, canCut }] of columns.entries()) {
    if (cells.every((cell) => cell === "")) continue;
    const widest = Math.max(...[header, ...cells].map(textWidth));
    const needed = canCut ? Math.min(widest, cellWidthMax) : widest;
    if (shown.length > 0 && used + gap.length + needed > width) continue;
    used += needed + (shown.length > 0 ? gap.length : 0);
    shown.push(index);
    widths.push(needed);
  }
  return { shown, widths };
}

/** One line of a table, made of the texts of all offered columns. */
export function tableLine(
  { shown, widths }: TableLayout,
  columns: readonly Column[],
  texts: readonly string[],
): string {
  const parts = shown.map((column, position) => {
    const text = printable(texts[column] ?? "");
    const cut = columns[column]?.canCut === true ? cutTo(text, cellWidthMax) : text;
    return cut + " ".repeat(Math.max(0, (widths[position] ?? 0) - textWidth(cut)));
  });
  return parts.join(gap).trimEnd();
}

/** Lines of names and their descriptions, side by side. */
export function pairLines(pairs: readonly (readonly [name: string, text: string])[], indent = ""): string[] {
  const width = Math.max(0, ...pairs.map(([name]) => textWidth(name)));
  return pairs.map(([name, text]) =>
    `${indent}${name}${" ".repeat(width - textWidth(name))}${gap}${text}`.trimEnd(),
  );
}

/** The characters as people count them. The segmenter is made on demand: it takes 10 ms, and most texts are ASCII. */
function graphemes(text: string): Iterable<{ readonly segment: string }> {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

let segmenter: Intl.Segmenter | undefined;
const widePattern =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

/** How many columns of a terminal a text takes. */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text)) width += widePattern.test(segment) ? 2 : 1;
  return width;
}

/** Cuts a text so that it takes at most so many columns. */
export function cutTo(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let cut = "";
  let used = 1;
  for (const { segment } of graphemes(text)) {
    used += textWidth(segment);
    if (used > width) break;
    cut += segment;
  }
  return `${cut}…`;
}
