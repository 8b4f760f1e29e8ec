/** How far an import is. */
export interface Progress {
  readonly made: number;
  /** How many jobs run or wait. */
  readonly jobs: number;
  /** The part of the file whose links are made, from 0 to 1; undefined when its size is unknown. */
  readonly part: number | undefined;
}

const barWidth = 30;

/** One line that says how far an import is, with a bar when the file's size is known. */
export function progressLine({ made, jobs, part }: Progress): string {
  const counts = `${inWords(made, "link")} made, ${inWords(jobs, "job")} running`;
  if (part === undefined) return counts;
  const filled = Math.round(part * barWidth);
  const bar = `[${"#".repeat(filled)}${".".repeat(barWidth - filled)}]`;
  return `${bar} ${String(Math.floor(part * 100)).padStart(3)} %  ${counts}`;
}

/** A number with its noun: `1 link`, `2,500 links`. */
export function inWords(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
