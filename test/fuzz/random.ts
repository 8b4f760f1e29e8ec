/** Random choices from a seed: the same seed gives the same choices on every machine. */
export interface Random {
  /** A whole number from 0 to below `end`. */
  below(end: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
  pick<T>(items: readonly T[]): T | undefined;
  /** True in `share` percent of cases. */
  percent(share: number): boolean;
}

/** Mulberry32: 32 bits of state, fast, and random enough for choices. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  return {
    below,
    // With one signature for lists with items and one for any list, only the former promises an item.
    pick: <T>(items: readonly T[]) => items[below(items.length)] as T,
    percent: (share) => below(100) < share,
  };
}
