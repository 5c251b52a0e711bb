/** Tests where civil buckets start (R-G1), around clock changes in ten zones and at a date that a zone skipped. */
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { civilBuckets, shortestLength } from '../../../src/points/buckets/civil-buckets.ts';
import { startOfDay } from '../../../src/structure/catalogue/time-zones.ts';

const ZONES = [
  'UTC',
  'Europe/Brussels',
  'America/New_York',
  'America/Sao_Paulo',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Atlantic/Azores',
  'Pacific/Apia',
  'Africa/Casablanca',
] as const;
const KINDS = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const;

const micros = (text: string) => Temporal.Instant.from(text).epochMilliseconds * 1000;
const anyDate = fc.integer({ min: micros('1975-01-01T00:00Z'), max: micros('2040-01-01T00:00Z') });

/** @returns the first change of the zone's clock after a date; the date itself when no change follows. */
function nextChange(zone: string, date: number): number {
  const start = Temporal.Instant.fromEpochMilliseconds(Math.floor(date / 1000)).toZonedDateTimeISO(zone);
  return (start.getTimeZoneTransition('next') ?? start).epochMilliseconds * 1000;
}

const bucketsOf = (kind: (typeof KINDS)[number], zone: string) => civilBuckets(kind, zone, startOfDay(zone));

describe('points: buckets in the local time of a zone', () => {
  test('follow each other without a gap, forward and backward, around clock changes (R-G1)', () => {
    const hours = fc.integer({ min: -30 * 60, max: 30 * 60 });
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), fc.constantFrom(...KINDS), anyDate, hours, (zone, kind, date, minutes) => {
        const { startOf, next, previous } = bucketsOf(kind, zone);
        const instant = nextChange(zone, date) + minutes * 60_000_000;
        const start = startOf(instant);
        const after = next(start);
        expect(start).toBeLessThanOrEqual(instant);
        expect(after).toBeGreaterThan(start);
        expect(previous(after)).toBe(start);
        if (after > instant) expect(startOf(after - 1)).toBe(start);
        // Where a clock changes by part of an hour, the hour after `start` can begin at or before `instant`.
        else expect(`${kind} ${zone}`).toMatch(/^hour (Australia\/Lord_Howe|Asia\/Kathmandu)$/);
      }),
      { numRuns: 1000 },
    );
  });

  test('minutes and hours follow the local clock; `shortestLength` is a minute for minutes, an hour for hours, and a day for all longer buckets (R-G1)', () => {
    const minutes = bucketsOf('minute', 'Asia/Kathmandu');
    expect(minutes.startOf(micros('2026-03-28T23:00:30Z'))).toBe(micros('2026-03-28T23:00Z'));
    expect(minutes.next(micros('2026-03-28T23:00Z'))).toBe(micros('2026-03-28T23:01Z'));
    expect(bucketsOf('hour', 'Asia/Kathmandu').startOf(micros('2026-03-28T23:30Z'))).toBe(micros('2026-03-28T23:15Z'));
    // At 15:00Z the clock of Lord Howe goes back from 02:00 to 01:30.
    const howe = bucketsOf('hour', 'Australia/Lord_Howe');
    expect(howe.startOf(micros('2026-04-04T14:59:59Z'))).toBe(micros('2026-04-04T14:00Z'));
    expect(howe.startOf(micros('2026-04-04T15:00Z'))).toBe(micros('2026-04-04T14:30Z'));
    const lengths = KINDS.map((kind) => shortestLength(kind) / 60_000_000);
    expect(lengths).toEqual([1, 60, 1440, 1440, 1440, 1440]);
  });

  test('a day with a clock change has 23 or 25 hours; the hours before and after the change have 60 minutes (R-G1)', () => {
    const days = bucketsOf('day', 'Europe/Brussels');
    expect(days.next(micros('2026-03-28T23:00Z'))).toBe(micros('2026-03-29T22:00Z'));
    expect(days.next(micros('2026-10-24T22:00Z'))).toBe(micros('2026-10-25T23:00Z'));
    const hours = bucketsOf('hour', 'Europe/Brussels');
    expect(hours.next(micros('2026-03-29T00:00Z'))).toBe(micros('2026-03-29T01:00Z'));
    expect(hours.next(micros('2026-03-29T01:00Z'))).toBe(micros('2026-03-29T02:00Z'));
    expect(hours.next(micros('2026-10-25T00:00Z'))).toBe(micros('2026-10-25T01:00Z'));
    expect(hours.next(micros('2026-10-25T01:00Z'))).toBe(micros('2026-10-25T02:00Z'));
  });

  test('a date that a zone skipped has no bucket (R-G1)', () => {
    const days = bucketsOf('day', 'Pacific/Apia');
    const [before, after] = [micros('2011-12-29T10:00Z'), micros('2011-12-30T10:00Z')];
    expect(days.next(before)).toBe(after);
    expect(days.previous(after)).toBe(before);
  });

  test('weeks begin on Monday, even before 1970 (R-G1)', () => {
    const weeks = bucketsOf('week', 'UTC');
    expect(weeks.startOf(micros('1969-12-31T12:00Z'))).toBe(micros('1969-12-29T00:00Z'));
    expect(weeks.startOf(micros('2026-03-01T12:00Z'))).toBe(micros('2026-02-23T00:00Z'));
  });
});
