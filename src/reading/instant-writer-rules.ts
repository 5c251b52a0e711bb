/**
 * Instants as text, many of them: the same texts as `formatInstant` and `formatLocalInstant`, an order of magnitude
 * faster on series, because what neighbours have in common, the day and the offset, is written once.
 */
import { formatInstant } from '../points/instant-rules.ts';
import type { Micros } from '../points/point.ts';
import type { InstantWriter } from './table.ts';

const MICROS_PER_SECOND = 1_000_000;
const MICROS_PER_MINUTE = 60 * MICROS_PER_SECOND;
const MICROS_PER_DAY = 86_400 * MICROS_PER_SECOND;
const DAY_CHARACTERS = '2026-03-01T'.length;

const TWO_DIGITS: readonly string[] = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/** A writer of `2026-03-01T00:15:00Z`. Each keeps the last day it wrote. */
export function instantWriter(): InstantWriter {
  const writeClock = clockWriter();
  return (micros) => `${writeClock(micros)}Z`;
}

/** A writer of `2026-03-01T01:15:00+01:00`. @param offsetAt of the zone from UTC, in microseconds. */
export function localInstantWriter(offsetAt: (micros: Micros) => number): InstantWriter {
  const writeClock = clockWriter();
  const dailyOffsetAt = rememberDay(offsetAt);
  let lastOffset = Number.NaN;
  let suffix = '';
  return (micros) => {
    const offset = dailyOffsetAt(micros);
    if (offset !== lastOffset) {
      lastOffset = offset;
      suffix = formatOffset(offset);
    }
    return writeClock(micros + offset) + suffix;
  };
}

/** Asks once a day where the clock is not changed that day: no zone changes it there and back within one. */
function rememberDay(offsetAt: (micros: Micros) => number): (micros: Micros) => number {
  let lastDay = Number.NaN;
  let ofDay: number | undefined;
  return (micros) => {
    const day = Math.floor(micros / MICROS_PER_DAY);
    if (day !== lastDay) {
      lastDay = day;
      const first = offsetAt(day * MICROS_PER_DAY);
      ofDay = first === offsetAt((day + 1) * MICROS_PER_DAY - 1) ? first : undefined;
    }
    return ofDay ?? offsetAt(micros);
  };
}

function clockWriter(): InstantWriter {
  let lastDay = Number.NaN;
  let prefix = '';
  return (micros) => {
    const day = Math.floor(micros / MICROS_PER_DAY);
    if (day !== lastDay) {
      lastDay = day;
      prefix = formatInstant(day * MICROS_PER_DAY).slice(0, DAY_CHARACTERS);
    }
    const inDay = micros - day * MICROS_PER_DAY;
    const seconds = Math.floor(inDay / MICROS_PER_SECOND);
    const minutes = (seconds / 60) | 0;
    const hours = (minutes / 60) | 0;
    const time = `${TWO_DIGITS[hours]}:${TWO_DIGITS[minutes - hours * 60]}:${TWO_DIGITS[seconds - minutes * 60]}`;
    const fraction = inDay - seconds * MICROS_PER_SECOND;
    return fraction === 0 ? prefix + time : `${prefix}${time}.${formatFraction(fraction)}`;
  };
}

function formatFraction(micros: number): string {
  return String(micros).padStart(6, '0').replace(/0+$/, '');
}

function formatOffset(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / MICROS_PER_MINUTE);
  const hours = String(Math.floor(minutes / 60)).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${hours}:${String(minutes % 60).padStart(2, '0')}`;
}
