/** Builds the SQL for the start of the civil bucket that contains a date (R-G1). */
import type { Bucket } from './bucket.ts';
import { offsetAtInstant } from './civil-sql.ts';
import { mergeSpans, type OffsetSpan } from './zone-offsets.ts';

const CLOCK_LENGTHS = { minute: 60_000_000, hour: 3_600_000_000 } as const;

/**
 * @param spans UTC offsets of the zone, for the period that contains the dates.
 * @param date SQL expression of an instant.
 * @returns SQL expression of the start of the bucket that contains `date`. For days and longer buckets, the expression
 * yields the local midnight at which the bucket starts, written as if it were UTC.
 *
 * For minutes and hours, the expression yields the instant at which the bucket starts. The expression uses only the
 * remainder of the offset at `date` divided by the bucket length. For recent dates, the remainder is zero in most
 * zones.
 *
 * `::timestamp` converts in UTC, the zone of all sessions, and is faster than `at time zone`.
 */
export function bucketStart(bucket: Exclude<Bucket, 'all'>, spans: readonly OffsetSpan[], date: string): string {
  if (bucket !== 'minute' && bucket !== 'hour') {
    return `date_trunc('${bucket}', ${date}::timestamp + ${offsetAtInstant(date, mergeSpans(spans))})`;
  }
  const length = CLOCK_LENGTHS[bucket];
  const rests = mergeSpans(spans, (offset) => ((offset % length) + length) % length);
  if (rests.every(({ offset }) => offset === 0)) return `date_trunc('${bucket}', ${date}::timestamp)`;
  const rest = offsetAtInstant(date, rests);
  return `date_trunc('${bucket}', ${date}::timestamp + ${rest}) - ${rest}`;
}
