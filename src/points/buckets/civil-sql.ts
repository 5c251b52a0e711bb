/**
 * SQL between instants and a zone's clock, by the offsets of the runtime (`zone-offsets`). Each is a constant, or a search
 * among the spans: measured, less than what `at time zone` takes, up to 600 of them. `::timestamp` and `::timestamptz` are
 * in UTC, as the sessions are.
 */
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import type { Micros } from '../point.ts';
import { instantLiteral, intervalLiteral } from '../read/sql-literal.ts';
import type { OffsetSpan } from './zone-offsets.ts';

/** How far the clock is ahead of UTC at an instant. @param instant an SQL expression. */
export function offsetAtInstant(instant: string, spans: readonly OffsetSpan[]): string {
  return search(
    instant,
    spans,
    spans.slice(1).map(({ from }) => instantLiteral(from)),
  );
}

/**
 * The instant of a local time. One that comes twice is the later, one that is skipped is moved forward by the gap (R-D4):
 * either way the new offset holds from the local time it begins with.
 * @param local an SQL expression: a timestamp without a zone.
 */
export function instantOfLocal(local: string, spans: readonly OffsetSpan[]): string {
  const begins = spans.slice(1).map(({ from, offset }) => localLiteral(from + offset));
  return `(${local} - ${search(local, spans, begins)})::timestamptz`;
}

function search(place: string, spans: readonly OffsetSpan[], changes: readonly string[]): string {
  const offsets = spans.map(({ offset }) => intervalLiteral(offset));
  if (offsets.length === 1) return `${offsets[0]}`;
  return `(array[${offsets.join()}])[width_bucket(${place}, array[${changes.join()}]) + 1]`;
}

function localLiteral(micros: Micros): string {
  return `timestamp '${formatInstant(micros).slice(0, -1)}'`;
}
