import { setImmediate as nextRound } from "node:timers/promises";

/** How long a piece of long work may keep the event loop before other work gets a turn, in milliseconds. */
export const sliceMs = 2;

let line: Promise<void> = Promise.resolve();

/**
 * Waits for a round of the event loop in which no other long work runs. A visitor who arrives waits for at most one
 * piece of long work, however many pieces are waiting.
 */
export function othersTurn(): Promise<void> {
  line = line.then(() => nextRound());
  return line;
}

/** What `work` gives for each item. Other work gets its turn after each piece of long work. */
export async function mapInTurns<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item, index: number) => Result | Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  // Only measures the duration.
  let startedAt = performance.now();
  for (const item of items) {
    results.push(await work(item, results.length));
    if (performance.now() - startedAt <= sliceMs) continue;
    await othersTurn();
    startedAt = performance.now();
  }
  return results;
}
