import type { Db } from "../../db/open.ts";
import type { Turns } from "../../db/turns.ts";
import { lruCache } from "../../lib/lru-cache.ts";
import { within } from "../../lib/within.ts";

/**
 * Asks the database of a workspace what only it can know; undefined where it does not answer in time, which every question has
 * an answer for.
 */
export type AskDatabase = <Value>(
  workspaceId: string,
  look: (db: Db) => Promise<Value>,
) => Promise<Value | undefined>;

export interface AskDeps {
  /** By workspace. */
  readonly turns: Turns;
  /** For so long visitors wait, in milliseconds. */
  readonly deadlineMs: number;
  readonly nowMs: () => number;
  readonly onTrouble: (error: unknown) => void;
}

/** After a question without an answer nobody waits for another one so long, in milliseconds. */
const pauseMs = 1_000;

/** Workspaces whose pauses are remembered. */
const pausesMax = 5_000;

/**
 * A database that hangs makes one visitor of a workspace wait in a second, and holds no more connections than the workspace's
 * turns: who waits for one of those gives up with the visitor.
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
