import { setImmediate as nextRound } from "node:timers/promises";

/** How long a piece of long work may keep the event loop before others have their turn, in milliseconds. */
export const sliceMs = 2;

let line: Promise<void> = Promise.resolve();

/**
 * Waits for a round of the event loop in which no other long work runs. However many pieces of long work wait, a visitor who
 * arrives waits for one of them.
 */
export function othersTurn(): Promise<void> {
  line = line.then(() => nextRound());
  return line;
}
