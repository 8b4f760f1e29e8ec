import { setTimeout as pause } from "node:timers/promises";
import { networkOf } from "../client-address.ts";
import type { MissLimit } from "./miss-limit.ts";

/** Waits for records that are on their way to the database, and limits the cost of invented ids. */
export interface Arrivals {
  /**
   * Returns what `find` finds, at once or within three seconds. A `missing` record is charged to the caller. A caller
   * gets `limited` when the first look finds nothing and the caller was wrong too often or waits for many records
   * already.
   */
  look<Found extends object>(sought: Sought<Found>): Promise<Found | "missing" | "limited">;
}

export interface Sought<Found> {
  /** The client's address, with a prefix that separates kinds of callers. */
  readonly caller: string;
  /** Looks the record up; holds no connection afterwards. */
  readonly find: () => Promise<Found | undefined>;
  /** Whether the record may still arrive; if not, one look decides. */
  readonly mayArrive: boolean;
  /**
   * For a caller who goes on without the record: at most 300 ms, and neither charged nor limited. The answer is then
   * `missing`.
   */
  readonly isOptional?: boolean;
  readonly signal?: AbortSignal;
}

export interface ArrivalsOptions {
  readonly misses: MissLimit;
  /** How many waits there may be at the same time, of one caller and in all. */
  readonly waitsMax?: { readonly ofCaller: number; readonly ofAll: number };
}

/** The pauses between looks in milliseconds, three seconds together. Most records arrive within the first few. */
const pausesMs = [50, 100, 150, 200, 300, 500, 700, 1_000];
const optionalPausesMs = pausesMs.slice(0, 3);

export function createArrivals({
  misses,
  waitsMax = { ofCaller: 20, ofAll: 200 },
}: ArrivalsOptions): Arrivals {
  const waitsOf = new Map<string, number>();
  let waits = 0;

  /** Counts a wait; returns false when there are too many. */
  function begin(caller: string): boolean {
    const own = waitsOf.get(caller) ?? 0;
    if (waits >= waitsMax.ofAll || own >= waitsMax.ofCaller) return false;
    waits += 1;
    waitsOf.set(caller, own + 1);
    return true;
  }

  function end(caller: string): void {
    waits -= 1;
    const own = (waitsOf.get(caller) ?? 1) - 1;
    if (own === 0) waitsOf.delete(caller);
    else waitsOf.set(caller, own);
  }

  async function wait<Found>({ find, isOptional, signal }: Sought<Found>): Promise<Found | undefined> {
    for (const ms of isOptional === true ? optionalPausesMs : pausesMs) {
      await pause(ms, undefined, { signal });
      const found = await find();
      if (found !== undefined) return found;
    }
    return undefined;
  }

  return {
    async look(sought) {
      const found = await sought.find();
      if (found !== undefined) return found;
      const caller = networkOf(sought.caller);
      const isOptional = sought.isOptional === true;
      if (!isOptional && !misses.allows(sought.caller)) return "limited";
      if (sought.mayArrive) {
        if (!begin(caller)) return isOptional ? "missing" : "limited";
        try {
          const arrived = await wait(sought);
          if (arrived !== undefined) return arrived;
        } finally {
          end(caller);
        }
      }
      if (!isOptional) misses.charge(sought.caller);
      return "missing";
    },
  };
}
