import { lruCache } from "../../lib/lru-cache.ts";
import { newerOf, type VisitKey, type VisitState } from "../visit/state.ts";

/**
 * Remembers where visits stand, for visits whose answer this process took or whose page it showed. The remembered state
 * wins over an older seal, which comes from another tab, from the Back button, or from a request that is sent twice.
 */
export interface RecentVisits {
  /** Returns the remembered state or the given one, whichever is newer. */
  newest(key: VisitKey, state: VisitState): VisitState;
  keep(key: VisitKey, state: VisitState): void;
  /** Runs the requests of one visit one after the other, in the order of their arrival. Undefined when too many wait. */
  inTurn<Result>(key: VisitKey, run: () => Promise<Result>): Promise<Result> | undefined;
}

/** The number of requests of one visit that may wait or run. A browser sends fewer at once. */
const lineMax = 50;

/** The memory for states, in shares of about 1 kB. Most visits take one share. */
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
    inTurn(key, run) {
      const name = nameOf(key);
      const line = lines.get(name) ?? { last: Promise.resolve(), length: 0 };
      if (line.length >= lineMax) return undefined;
      lines.set(name, line);
      line.length += 1;
      const own = line.last.then(run, run);
      line.last = own;
      return own.finally(() => {
        line.length -= 1;
        if (line.length === 0) lines.delete(name);
      });
    },
  };
}

/** The shares that a state takes, by the length of its query, destination and saved values. */
function sharesOf({ query, destination, saved }: VisitState): number {
  const length = saved.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  return 1 + Math.floor((query.length + destination.length + length) / 500);
}
