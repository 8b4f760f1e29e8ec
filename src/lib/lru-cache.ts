import { LRUCache } from "lru-cache";

/**
 * A cache that forgets what was asked for longest ago once it holds `max` values. Asked for `max` entries, the library
 * allocates all of them at once, and those of one process took 10 ms of its start; asked for a size, it grows.
 */
export function lruCache<Value extends {}>(max: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
}
