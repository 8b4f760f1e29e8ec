import { lruCache } from "../../lib/lru-cache.ts";
import { newerOf, type VisitKey, type VisitState } from "../visit/state.ts";

/**
 * Where the visits stand that this process has taken an answer of, or shown a page to. An older seal, from another tab, by the
 * Back button or sent once more, is nothing against it.
 */
export interface RecentVisits {
  /** The newer one of what is remembered and what is given. */
  newest(key: VisitKey, state: VisitState): VisitState;
  keep(key: VisitKey, state: VisitState): void;
  /** One request of a visit at a time, in the order they came; rejects where too many wait already. */
  inTurn<Result>(key: VisitKey, run: () => Promise<Result>): Promise<Result>;
}

/** More requests of one visit than a browser sends at once. */
const lineMax = 50;

/** Shares of the memory, of about 1 kB; most visits take one. */
const sharesMax = 20_000;

export function createRecentVisits(): RecentVisits {
  const states = lruCache<VisitState>(sharesMax, sharesOf);
  const lines = new Map<string, { last: Promise<unknown>; length: number }>();
  const nameOf = ({ workspaceId, eventId }: VisitKey) => `${workspaceId}/${eventId}`;

  return {
    newest(key, state) {
      const known = states.get(nameOf(key));
      return known === undefined ? state : newerOf(state, known);
    },
    keep(key, state) {
      states.set(nameOf(key), state);
    },
    async inTurn(key, run) {
      const name = nameOf(key);
      const line = lines.get(name) ?? { last: Promise.resolve(), length: 0 };
      if (line.length >= lineMax) throw new Error("too many requests of one visit wait");
      lines.set(name, line);
      line.length += 1;
      const own = line.last.then(run, run);
      line.last = own;
      try {
        return await own;
      } finally {
        line.length -= 1;
        if (line.length === 0) lines.delete(name);
      }
    },
  };
}

/** What is not known to be short. */
function sharesOf({ query, destination, saved }: VisitState): number {
  const length = saved.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  return 1 + Math.floor((query.length + destination.length + length) / 500);
}
