import { networkOf } from "../client-address.ts";
import { lruCache } from "../lru-cache.ts";

/**
 * Slows down who guesses names: each address may be wrong about `burst` of them, and about one more every `refillMs`. Only
 * look-ups of the database that found nothing are charged, and what is in memory answers everybody. Kept per process; IPv6 by
 * /64, the least that one customer gets.
 */
export interface MissLimit {
  /** Whether this address may ask about something that is not in memory. */
  allows(address: string): boolean;
  /** One wrong guess of this address. */
  charge(address: string): void;
}

export interface MissLimitDeps {
  readonly nowMs: () => number;
  readonly burst?: number;
  readonly refillMs?: number;
}

const addressesMax = 20_000;

export function createMissLimit({ nowMs, burst = 100, refillMs = 200 }: MissLimitDeps): MissLimit {
  // The time at which an address has its whole burst again.
  const fullAt = lruCache<number>(addressesMax);

  return {
    allows(address) {
      const at = fullAt.get(networkOf(address));
      return at === undefined || at - nowMs() <= (burst - 1) * refillMs;
    },
    charge(address) {
      const network = networkOf(address);
      fullAt.set(network, Math.max(fullAt.get(network) ?? 0, nowMs()) + refillMs);
    },
  };
}
