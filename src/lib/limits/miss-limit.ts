import { networkOf } from "../client-address.ts";
import { lruCache } from "../lru-cache.ts";

/**
 * Slows down clients that guess names: each address may miss `burst` times, and once more every `refillMs`. Only
 * database look-ups that find nothing are charged; names in memory are answered without limit. Counted per process;
 * IPv6 counts by /64, the least that one customer gets.
 */
export interface MissLimit {
  /** Whether this address may look up a name that is not in memory. */
  allows(address: string): boolean;
  /** Whether this address has missed, as far as this process remembers. */
  hasMissed(address: string): boolean;
  charge(address: string): void;
}

export interface MissLimitDeps {
  readonly nowMs: () => number;
  readonly burst?: number;
  readonly refillMs?: number;
}

const addressesMax = 20_000;

export function createMissLimit({ nowMs, burst = 100, refillMs = 200 }: MissLimitDeps): MissLimit {
  // The time at which an address has its full burst again.
  const fullAt = lruCache<number>(addressesMax);

  return {
    allows(address) {
      const at = fullAt.get(networkOf(address));
      return at === undefined || at - nowMs() <= (burst - 1) * refillMs;
    },
    hasMissed: (address) => fullAt.has(networkOf(address)),
    charge(address) {
      const network = networkOf(address);
      fullAt.set(network, Math.max(fullAt.get(network) ?? 0, nowMs()) + refillMs);
    },
  };
}
