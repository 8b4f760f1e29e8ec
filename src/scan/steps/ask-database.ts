import type { Db } from "../../db/open.ts";
import type { Turns } from "../../db/turns.ts";
import { lruCache } from "../../lib/lru-cache.ts";
import { within } from "../../lib/within.ts";

/**
 * Asks the database about a workspace what only the database knows. The answer is undefined when the database does not
 * answer in time. Every caller can go on without the answer.
 */
export type AskDatabase = <Value>(
  workspaceId: string,
  look: (db: Db) => Promise<Value>,
) => Promise<Value | undefined>;

export interface AskDeps {
  /** By workspace. */
  readonly turns: Turns;
  /** The longest time that a visitor waits for an answer, in milliseconds. */
  readonly deadlineMs: number;
  readonly nowMs: () => number;
  readonly onTrouble: (error: unknown) => void;
}

/** The time after an unanswered question in which no visitor of the workspace asks again, in milliseconds. */
const pauseMs = 1_000;

/** The number of workspaces whose pauses are remembered. */
const pausesMax = 5_000;

/**
 * Asks with a deadline, and pauses after a question that got no answer. While the database hangs, the visitors of a
 * workspace who are already waiting give up at the deadline, and new ones do not wait before the pause is over. A
 * workspace holds no more connections than its turns allow, and a visitor who gives up also leaves the queue for a
 * turn.
 */
export function createAskDatabase({ turns, deadlineMs, nowMs, onTrouble }: AskDeps): AskDatabase {
  const pausedAtMs = lruCache<number>(pausesMax);
  return async (workspaceId, look) => {
    const pausedMs = pausedAtMs.get(workspaceId);
    if (pausedMs !== undefined && Math.abs(nowMs() - pausedMs) < pauseMs) return undefined;
    try {
      return await within(deadlineMs, (signal) => look(turns.of(workspaceId, { patience: () => signal })));
    } catch (error) {
      pausedAtMs.set(workspaceId, nowMs());
      onTrouble(error);
      return undefined;
    }
  };
}
