/**
 * Finds the spans of time in which a zone has a constant UTC offset. Uses the tz database of the runtime, not that of
 * PostgreSQL, because the two differ for some dates.
 */
import { Temporal } from 'temporal-polyfill';
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../platform/dates/instant-rules.ts';
import type { Micros } from '../point.ts';

export interface OffsetSpan {
  /** First instant of the span; the first span also covers all earlier instants. */
  readonly from: Micros;
  readonly offset: Micros;
}

const MICROS_PER_MILLI = 1000;

const wholeSpans = new Map<string, readonly OffsetSpan[]>();

/**
 * Finds the UTC offsets of a zone in a period (R-G1).
 * @param from first instant to cover, inclusive.
 * @param to last instant to cover, inclusive.
 * @returns one or more spans in ascending order. Offsets are in microseconds ahead of UTC.
 * @throws {RangeError} for an unknown zone.
 */
export function offsetSpans(
  timeZoneId: string,
  from: Micros = MIN_DATE_MICROS,
  to: Micros = MAX_DATE_MICROS,
): readonly OffsetSpan[] {
  if (from > MIN_DATE_MICROS && to < MAX_DATE_MICROS) return findSpans(timeZoneId, from, to);
  const known = wholeSpans.get(timeZoneId) ?? findSpans(timeZoneId, MIN_DATE_MICROS, MAX_DATE_MICROS);
  wholeSpans.set(timeZoneId, known);
  return known.filter((_span, index) => {
    const next = known[index + 1];
    return (known[index]?.from ?? 0) <= to && (next === undefined || next.from > from);
  });
}

/** Replaces each offset by the result of `offsetOf`, and merges adjacent spans with the same result. */
export function mergeSpans(
  spans: readonly OffsetSpan[],
  offsetOf: (offset: Micros) => Micros = (offset) => offset,
): readonly OffsetSpan[] {
  const merged: OffsetSpan[] = [];
  for (const { from, offset } of spans) {
    if (merged.at(-1)?.offset !== offsetOf(offset)) merged.push({ from, offset: offsetOf(offset) });
  }
  return merged;
}

function findSpans(timeZoneId: string, from: Micros, to: Micros): readonly OffsetSpan[] {
  const first = Temporal.Instant.fromEpochMilliseconds(Math.floor(from / MICROS_PER_MILLI));
  const spans: OffsetSpan[] = [];
  let at: Temporal.ZonedDateTime | null = first.toZonedDateTimeISO(timeZoneId);
  while (at && at.epochMilliseconds * MICROS_PER_MILLI <= to) {
    spans.push({
      from: at.epochMilliseconds * MICROS_PER_MILLI,
      offset: at.offsetNanoseconds / MICROS_PER_MILLI,
    });
    at = at.getTimeZoneTransition('next');
  }
  return mergeSpans(spans);
}
