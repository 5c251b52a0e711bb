/** Caches with a maximum number of entries. */
import { LRUCache } from 'lru-cache';

/**
 * Opens a cache that removes the least recently used entry above `maxEntries`. Its memory grows with its entries: with the
 * option `max`, lru-cache 11 allocates the memory of all entries at once, which takes 13 ms and 2.5 MB for 100,000.
 */
export function openBoundedCache<Key extends string | number, Value extends NonNullable<unknown>>(
  maxEntries: number,
): LRUCache<Key, Value> {
  return new LRUCache<Key, Value>({ maxSize: maxEntries, sizeCalculation: () => 1 });
}
