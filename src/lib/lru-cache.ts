import { LRUCache } from "lru-cache";

/**
 * A cache that drops the least recently used entries once it holds `max` values, or fewer when some weigh more than
 * one. It limits the library by size, not by entries: for a number of entries the library allocates all of them at
 * once, which took 10 ms of a start. Keys chosen by strangers must be short and copied by `ownText`.
 */
export function lruCache<Value extends {}>(
  max: number,
  weigh: (value: Value) => number = () => 1,
): LRUCache<string, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: weigh });
}
