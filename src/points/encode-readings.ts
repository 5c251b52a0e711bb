/**
 * Encodes readings as COPY tuples and removes duplicates: among readings with the same variable, date and VersionTag,
 * the last reading wins (R-D5).
 */
import { encodeTuples } from './copy-codec.ts';
import type { PointEntry } from './point.ts';

/** @returns tuples in the order of `entries`, without duplicates (R-D5). */
export function encodeReadings(entries: readonly PointEntry[]): Buffer {
  const unordered = findUnordered(entries);
  return encodeTuples(unordered.size === 0 ? entries : withoutDuplicates(entries, unordered));
}

/** Finds the variables whose dates do not strictly ascend; only these variables can have duplicates. */
function findUnordered(entries: readonly PointEntry[]): ReadonlySet<number> {
  const lastDates = new Map<number, number>();
  const unordered = new Set<number>();
  for (const { variableId, dateMicros } of entries) {
    const last = lastDates.get(variableId);
    if (last !== undefined && dateMicros <= last) unordered.add(variableId);
    lastDates.set(variableId, dateMicros);
  }
  return unordered;
}

function withoutDuplicates(entries: readonly PointEntry[], unordered: ReadonlySet<number>): readonly PointEntry[] {
  const lastIndexes = new Map<string, number>();
  const keyOf = ({ variableId, dateMicros, versionTagId }: PointEntry) => `${variableId} ${dateMicros} ${versionTagId}`;
  for (const [index, entry] of entries.entries()) {
    if (unordered.has(entry.variableId)) lastIndexes.set(keyOf(entry), index);
  }
  return entries.filter((entry, index) => !unordered.has(entry.variableId) || lastIndexes.get(keyOf(entry)) === index);
}
