/** One line of the table: a measurement, and whether it is within its budget. */
export interface Finding {
  readonly what: string;
  readonly ours: string;
  readonly peer: string;
  /** The figure that the budget limits. */
  readonly figure: string;
  readonly budget: string;
  readonly isMet: boolean;
}

interface Compared {
  readonly ours: number;
  readonly peer: number;
  readonly unit: string;
  readonly budget: number;
}

/** Our figure as a fraction of the peer's; more is better. */
export function atLeast(what: string, { ours, peer, unit, budget }: Compared): Finding {
  const ratio = ours / peer;
  return {
    what,
    ours: quantity(ours, unit),
    peer: quantity(peer, unit),
    figure: `${ratio.toFixed(2)} ×`,
    budget: `≥ ${budget} ×`,
    isMet: ratio >= budget,
  };
}

/** Our figure as a multiple of the peer's; less is better. */
export function atMostTimes(what: string, { ours, peer, unit, budget }: Compared): Finding {
  const ratio = ours / peer;
  return {
    what,
    ours: quantity(ours, unit),
    peer: quantity(peer, unit),
    figure: `${ratio.toFixed(2)} ×`,
    budget: `≤ ${budget} ×`,
    isMet: ratio <= budget,
  };
}

/** A figure with an absolute limit; `peer` is a figure for comparison. */
export function atMost(
  what: string,
  { ours, unit, budget, peer = "" }: Omit<Compared, "peer"> & { readonly peer?: string },
): Finding {
  return {
    what,
    ours: quantity(ours, unit),
    peer,
    figure: quantity(ours, unit),
    budget: `≤ ${quantity(budget, unit)}`,
    isMet: ours <= budget,
  };
}

/** A figure without a budget, which explains another one. */
export function told(
  what: string,
  { ours, unit, peer = "" }: { readonly ours: number; readonly unit: string; readonly peer?: string },
): Finding {
  return { what, ours: quantity(ours, unit), peer, figure: "", budget: "", isMet: true };
}

/** A condition that is met or not. */
export function holds(what: string, isMet: boolean, figure: string): Finding {
  return { what, ours: "", peer: "", figure, budget: "all", isMet };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? Number.NaN) + (sorted[sorted.length >> 1] ?? Number.NaN)) / 2;
}

/** The smallest value that at least `part` of all values do not exceed. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}

export interface Rounds<Report> {
  readonly peer: readonly Report[];
  readonly ours: readonly Report[];
}

/** Runs both alternately, peer first, so that a slow phase of the machine slows both. */
export async function inTurn<Report>(
  rounds: number,
  peer: () => Promise<Report>,
  ours: () => Promise<Report>,
): Promise<Rounds<Report>> {
  const reports = { peer: [] as Report[], ours: [] as Report[] };
  for (let round = 0; round < rounds; round++) {
    reports.peer.push(await peer());
    reports.ours.push(await ours());
  }
  return reports;
}

export function medianOf<Report>(reports: readonly Report[], read: (report: Report) => number): number {
  return median(reports.map(read));
}

/** The findings as a table with aligned columns. */
export function table(findings: readonly Finding[]): string {
  const rows = findings.map(({ what, ours, peer, figure, budget, isMet }) => [
    what,
    ours,
    peer,
    figure,
    budget,
    isMet ? "" : "MISSED",
  ]);
  return alignColumns([["", "ours", "peer", "figure", "budget", ""], ...rows]);
}

export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function quantity(value: number, unit: string): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  const number = value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${number} ${unit}`;
}
