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
