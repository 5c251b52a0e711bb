/**
 * Builds SQL that converts between instants and the local times of a zone. The SQL contains the offsets that the
 * runtime knows (`zone-offsets`): one constant offset, or a binary search among spans of offsets. The search is faster
 * than `at time zone` for up to 600 spans. Sessions run in UTC, so `::timestamp` and `::timestamptz` convert in UTC.
 */
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import type { Micros } from '../point.ts';
import { instantLiteral, intervalLiteral } from '../read/sql-literal.ts';
import type { OffsetSpan } from './zone-offsets.ts';

/**
 * @param instant the instant: an SQL expression.
 * @returns the zone's offset from UTC at this instant: an SQL expression.
 */
export function offsetAtInstant(instant: string, spans: readonly OffsetSpan[]): string {
  return search(
    instant,
    spans,
    spans.slice(1).map(({ from }) => instantLiteral(from)),
  );
}

/**
 * Converts a local time to an instant (R-D4). A local time that occurs twice becomes the later instant. A skipped local
 * time moves forward by the length of the gap.
 *
 * @param local the local time: an SQL expression of a timestamp without a zone.
 * @returns SQL expression of the instant.
 */
export function instantOfLocal(local: string, spans: readonly OffsetSpan[]): string {
  const begins = spans.slice(1).map(({ from, offset }) => localLiteral(from + offset));
  return `(${local} - ${search(local, spans, begins)})::timestamptz`;
}

function search(value: string, spans: readonly OffsetSpan[], changes: readonly string[]): string {
  const offsets = spans.map(({ offset }) => intervalLiteral(offset));
  if (offsets.length === 1) return `${offsets[0]}`;
  return `(array[${offsets.join()}])[width_bucket(${value}, array[${changes.join()}]) + 1]`;
}

function localLiteral(micros: Micros): string {
  return `timestamp '${formatInstant(micros).slice(0, -1)}'`;
}
