import type { Way } from "./columns.ts";

/** A step that a visit reached. */
export interface ReachedStep {
  readonly action: string;
  /** When the trace was made, in milliseconds, and its id: by them traces are in order. */
  readonly atMs: number;
  readonly id: string;
  readonly isDone: boolean;
  /** The redirect of a fallback is no step, though it may offer choices. */
  readonly isStep: boolean;
  readonly isMade: boolean;
  readonly choices: readonly (readonly [label: string, isChosen: boolean])[];
}

/** The way of a visit that reached these steps, as JSON. Equal ways are equal texts. */
export function wayOf(reached: readonly ReachedStep[]): string {
  const inOrder = reached
    .filter(({ isStep }) => isStep)
    .sort((a, b) => a.atMs - b.atMs || compare(a.id, b.id));
  const steps = new Map<string, Way["steps"][number]>();
  for (const [index, { action, isDone, isMade }] of inOrder.entries()) {
    const before = steps.get(action);
    steps.set(action, {
      action,
      occurrences: (before?.occurrences ?? 0) + 1,
      isDone: isDone || before?.isDone === true,
      isMade: isMade || before?.isMade === true,
      place: before?.place ?? index + 1,
    });
  }
  const choices = new Map<string, Way["choices"][number]>();
  for (const { action, choices: own } of reached)
    for (const [label, isChosen] of own) {
      const key = `${action} ${label}`;
      choices.set(key, { action, label, isChosen: isChosen || choices.get(key)?.isChosen === true });
    }
  const way: Way = { steps: sortedValues(steps), choices: sortedValues(choices) };
  return JSON.stringify(way);
}

function sortedValues<Value>(map: ReadonlyMap<string, Value>): Value[] {
  return [...map].sort(([a], [b]) => compare(a, b)).map(([, value]) => value);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
