import type { Db } from "../db/open.ts";
import { createTurns } from "../db/turns.ts";
import { createMissLimit } from "../lib/limits/miss-limit.ts";
import { within } from "../lib/within.ts";

/** Looks things up for strangers: with few connections, not for long, and seldom where nothing is found. */
export interface StrangerLooks {
  /** Whether the client at an address may look up another name. */
  allows(address: string): boolean;
  /** Counts a look that found nothing. */
  charge(address: string): void;
  /** Asks the database. Rejects when that takes too long. */
  look<Found>(ask: (db: Db) => Promise<Found>): Promise<Found>;
  /** All three in one, for what is not kept. */
  search<Found>(address: string, ask: (db: Db) => Promise<Found | undefined>): Promise<Found | undefined>;
}

/** How many unknown names may be looked up by all clients together: at once, and then one every so many milliseconds. */
const missesOfAll = { burst: 2_000, refillMs: 5 };
const everybody = "everybody";

/** A client waits at most `lookMs` for the database. */
export function createStrangerLooks(whole: Db, nowMs: () => number, lookMs = 1_000): StrangerLooks {
  const turns = createTurns(whole, { connections: 2, share: 2 });
  const misses = createMissLimit({ nowMs });
  const missesTogether = createMissLimit({ nowMs, ...missesOfAll });

  const looks: StrangerLooks = {
    // A flood of many clients closes no door to a client that has never guessed.
    allows: (address) =>
      misses.allows(address) &&
      (missesTogether.allows(everybody) || !misses.hasMissed(address)) &&
      !turns.isCrowded(everybody),
    charge(address) {
      misses.charge(address);
      missesTogether.charge(everybody);
    },
    look: (ask) => within(lookMs, (signal) => ask(turns.of(everybody, { patience: () => signal }))),
    async search(address, ask) {
      if (!looks.allows(address)) return undefined;
      const found = await looks.look(ask);
      if (found === undefined) looks.charge(address);
      return found;
    },
  };
  return looks;
}
