/** Caches with a maximum number of entries. */
import { LRUCache } from 'lru-cache';

/**
 * Opens a cache of at most `maxEntries` entries; a further entry replaces the least recently used entry. The memory of
 * the cache grows with its entries. Does not use the option `max`, with which lru-cache 11 allocates the memory of all
 * entries in advance: 2.5 MB and 13 ms for 100,000 entries.
 */
export function openBoundedCache<Key extends string | number, Value extends NonNullable<unknown>>(
  maxEntries: number,
): LRUCache<Key, Value> {
  return new LRUCache<Key, Value>({ maxSize: maxEntries, sizeCalculation: () => 1 });
}
