import { LRUCache } from "lru-cache";

/**
 * A cache that forgets what was asked for longest ago once it holds `max` values, or fewer where some weigh more than one.
 * Asked for `max` entries, the library allocates all of them at once, and those of one process took 10 ms of its start;
 * asked for a size, it grows. Keys that strangers choose have to be short, and `ownText`.
 */
export function lruCache<Value extends {}>(
  max: number,
  weigh: (value: Value) => number = () => 1,
): LRUCache<string, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: weigh });
}
