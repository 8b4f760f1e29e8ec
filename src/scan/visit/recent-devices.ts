/** The devices that left something lately, which may still be in the spool. */
export interface RecentDevices {
  /** Says whether one of the device's names was met lately. From now on, all these names count as met. */
  meet(names: readonly string[], nowMs: number): boolean;
}

/**
 * Remembers names for at least `lastingMs`. While names keep arriving, it forgets each after at most twice that time.
 * It forgets sooner when more than `sizeMax` names arrive in that time. The drain stores visits much faster than that.
 */
export function createRecentDevices({ lastingMs = 30_000, sizeMax = 20_000 } = {}): RecentDevices {
  let young = new Set<string>();
  let old = new Set<string>();
  let sinceMs = Number.NEGATIVE_INFINITY;
  return {
    meet(names, nowMs) {
      if (Math.abs(nowMs - sinceMs) >= lastingMs || young.size >= sizeMax) {
        old = young;
        young = new Set();
        sinceMs = nowMs;
      }
      const isKnown = names.some((name) => young.has(name) || old.has(name));
      for (const name of names) young.add(name);
      return isKnown;
    },
  };
}
