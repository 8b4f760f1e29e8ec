import type { EnvironmentVariables } from "../profiles.ts";

/** With what a terminal draws. */
export interface Ink {
  /** Parts of a block that lies, from an eighth to a whole one. */
  readonly across: readonly string[];
  /** Parts of a block that stands. */
  readonly up: readonly string[];
  /** The line that takes the place of an axis. */
  readonly rule: string;
  /** Colors a part of a line. */
  readonly paint: (text: string) => string;
}

const blocks = {
  across: ["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"],
  up: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
  rule: "─",
};
const plain = { across: ["#"], up: [".", ":", "|", "#"], rule: "-" };

/** The drawing characters and the color that an environment allows: `NO_COLOR` and outputs that nobody watches get none. */
export function inkFor(env: EnvironmentVariables, isWatched: boolean): Ink {
  const isDumb = env.TERM === "dumb";
  const hasColor = isWatched && !isDumb && (env.NO_COLOR ?? "") === "";
  // As the C library chooses: the first of them that is set decides.
  const locale = [env.LC_ALL, env.LC_CTYPE, env.LANG].find((name) => name !== undefined && name !== "");
  const hasBlocks = !isDumb && (locale === undefined || /utf-?8/i.test(locale));
  return {
    ...(hasBlocks ? blocks : plain),
    paint: (text) => (hasColor && text !== "" ? `\u001b[36m${text}\u001b[39m` : text),
  };
}

/** A bar of a length in characters, to a part of a character. Whatever is more than nothing is seen. */
export function barOf(length: number, { across }: Ink): string {
  const parts = Math.round(length * across.length);
  const shown = length > 0 ? Math.max(1, parts) : 0;
  const rest = shown % across.length;
  const full = across.at(-1) ?? "";
  return full.repeat(Math.floor(shown / across.length)) + (rest === 0 ? "" : (across[rest - 1] ?? ""));
}

/** The part of a column that stands in one line, from the bottom 0; a space where the column does not reach. */
export function columnIn(height: number, line: number, { up }: Ink): string {
  const parts = height > 0 ? Math.max(1, Math.round(height * up.length)) : 0;
  const here = Math.min(up.length, parts - line * up.length);
  return here <= 0 ? " " : (up[here - 1] ?? " ");
}
