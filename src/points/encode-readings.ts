/**
 * Readings as they were sent → COPY tuples. Repeats within one body for the same variable, date and VersionTag are
 * settled here, the last wins (R-D5); what leaves is free of them.
 */
import { encodeTuples } from './copy-codec.ts';
import type { PointEntry } from './point.ts';

/** @returns tuples in the order of `entries`, less the repeats. */
export function encodeReadings(entries: readonly PointEntry[]): Buffer {
  const unordered = findUnordered(entries);
  return encodeTuples(unordered.size === 0 ? entries : withoutRepeats(entries, unordered));
}

/** Variables whose dates do not strictly ascend: only they can hold a repeat. */
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

function withoutRepeats(entries: readonly PointEntry[], unordered: ReadonlySet<number>): readonly PointEntry[] {
  const lastPlaces = new Map<string, number>();
  const keyOf = ({ variableId, dateMicros, versionTagId }: PointEntry) => `${variableId} ${dateMicros} ${versionTagId}`;
  for (const [place, entry] of entries.entries()) {
    if (unordered.has(entry.variableId)) lastPlaces.set(keyOf(entry), place);
  }
  return entries.filter((entry, place) => !unordered.has(entry.variableId) || lastPlaces.get(keyOf(entry)) === place);
}
