import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eachTuple, encodeTuples } from '../../../src/points/copy-codec.ts';
import type { PointEntry } from '../../../src/points/point.ts';
import { CHUNK_MICROS, chunkOf } from '../../../src/points/write/chunk-rules.ts';
import type { ChunkRanges, DateRanges } from '../../../src/points/write/date-ranges-rules.ts';
import { planWrite, targetsOf, type WritePlan } from '../../../src/points/write/plan-write-rules.ts';
import type { Series } from '../../../src/points/write/survey-rows-rules.ts';

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;
const NOW = Date.UTC(2026, 5, 1) * 1000;

interface Row extends PointEntry {
  readonly versionTimestamp: number;
}

function decode(batches: readonly Buffer[]): Row[] {
  return batches.flatMap((tuples) => {
    const rows: Row[] = [];
    eachTuple(tuples, (variableId, dateMicros, offset) => {
      const value = tuples.readDoubleBE(offset + 18);
      const versionTimestamp = Number(tuples.readBigInt64BE(offset + 30)) + 946_684_800_000_000;
      const [versionTagId, tagSetId] = [tuples.readInt32BE(offset + 50), tuples.readInt32BE(offset + 58)];
      rows.push({ variableId, dateMicros, value, versionTagId, tagSetId, versionTimestamp });
    });
    return rows;
  });
}

/** Expands the date ranges in `set`. @returns a text `variable date tag` for every date of every date range. */
function expand(plan: WritePlan, set: keyof ChunkRanges): string[] {
  return [...plan.chunks].flatMap(([chunk, ranges]) => {
    const expanded = datesOf(ranges[set]);
    for (const { date } of expanded) expect(chunkOf(date)).toBe(chunk);
    return expanded.map(({ variableId, date, tagId }) => `${variableId} ${date} ${tagId}`);
  });
}

function datesOf({ variableIds, fromMicros, toMicros, stepMicros, versionTagIds }: DateRanges) {
  return variableIds.flatMap((variableId, index) => {
    const [from = 0, to = 0, step = 0] = [fromMicros[index], toMicros[index], stepMicros[index]];
    const count = from === to ? 1 : (to - from) / step + 1;
    return Array.from({ length: count }, (_, repeat) => {
      return { variableId, date: from + repeat * step, tagId: versionTagIds[index] ?? 0 };
    });
  });
}

const series = (given: Partial<Series> & Pick<Series, 'variableId'>): Series => ({
  accountId: 1,
  isVersioned: true,
  versionLimit: 7,
  maxDateMicros: Number.NEGATIVE_INFINITY,
  lastVersionTimestamp: Number.NEGATIVE_INFINITY,
  hasHistory: false,
  lastVersionTagId: 0,
  versionBound: 0,
  isHistoryCut: false,
  ...given,
});

const point = (variableId: number, dateMicros: number, versionTagId = 0, value = 0): PointEntry => ({
  variableId,
  dateMicros,
  value,
  versionTagId,
  tagSetId: 0,
});

const plan = (batches: readonly (readonly PointEntry[])[], ...known: readonly Series[]) =>
  planWrite(batches.map(encodeTuples), new Map(known.map((one) => [one.variableId, one])), NOW);

const byText = (rows: readonly string[]) => [...rows].sort();

describe('write plan', () => {
  // The dates lie on both sides of two chunk boundaries. Most of them are at quarter hours.
  const entry = fc.record({
    variableId: fc.integer({ min: 1, max: 4 }),
    dateMicros: fc.oneof(
      fc.integer({ min: -4, max: 8 }).map((step) => step * 15 * MINUTE),
      fc.integer({ min: -3, max: 3 }),
      fc.integer({ min: -2, max: 2 }).map((step) => step * 400 * 24 * HOUR),
      fc.integer({ min: -2, max: 2 }).map((step) => 100 * CHUNK_MICROS + step * 15 * MINUTE),
    ),
    value: fc.integer({ min: 0, max: 9999 }),
    versionTagId: fc.integer({ min: 0, max: 2 }),
    tagSetId: fc.constant(0),
  });
  const state = fc.record({
    isVersioned: fc.boolean(),
    maxDateMicros: fc.constantFrom(Number.NEGATIVE_INFINITY, -1, 0, 60 * MINUTE, 10_000 * HOUR),
    lastVersionTimestamp: fc.constantFrom(Number.NEGATIVE_INFINITY, NOW - 5, NOW + 7),
    hasHistory: fc.boolean(),
    lastVersionTagId: fc.integer({ min: 0, max: 2 }),
    versionBound: fc.integer({ min: 0, max: 9 }),
  });
  // Variable 4 does not exist.
  const states = fc.tuple(state, state, state).map((given) => {
    return given.map((one, index) => series({ ...one, variableId: index + 1 }));
  });
  const batches = fc.array(fc.array(entry, { maxLength: 12 }), { maxLength: 4 });

  it('the last row of each date becomes the current version (§9.2, R-F2, R-F4)', () => {
    fc.assert(
      fc.property(batches, states, (given, known) => {
        const made = plan(given, ...known);
        const expected = new Map<string, PointEntry[]>();
        for (const row of given.flat()) {
          const one = known.find(({ variableId }) => variableId === row.variableId);
          if (!one) continue;
          const key = `${row.variableId} ${row.dateMicros}`;
          const versionTagId = one.isVersioned ? row.versionTagId : 0;
          const before = one.isVersioned ? (expected.get(key) ?? []) : [];
          const kept = before.filter((other) => versionTagId === 0 || other.versionTagId !== versionTagId);
          expected.set(key, [...kept, { ...row, versionTagId }]);
        }
        const text = ({ variableId, dateMicros, value, versionTagId }: PointEntry) =>
          `${variableId} ${dateMicros} ${value} ${versionTagId}`;
        const kept = [...expected.values()];
        expect(byText(decode(made.current).map(text))).toEqual(
          byText(kept.flatMap((rows) => rows.slice(-1)).map(text)),
        );
        expect(byText(decode(made.earlier).map(text))).toEqual(
          byText(kept.flatMap((rows) => rows.slice(0, -1)).map(text)),
        );
      }),
    );
  });

  it('assigns VersionTimestamps that ascend within a date and exceed all earlier VersionTimestamps of the variable (R-F1)', () => {
    fc.assert(
      fc.property(batches, states, (given, known) => {
        const made = plan(given, ...known);
        const versions = new Map<string, Row[]>();
        for (const row of [...decode(made.earlier), ...decode(made.current)]) {
          const key = `${row.variableId} ${row.dateMicros}`;
          versions.set(key, [...(versions.get(key) ?? []), row]);
        }
        for (const rows of versions.values()) {
          const one = known.find(({ variableId }) => variableId === rows[0]?.variableId);
          const first = Math.max(NOW, (one?.lastVersionTimestamp ?? 0) + 1);
          expect(rows.map(({ versionTimestamp }) => versionTimestamp)).toEqual(rows.map((_, index) => first + index));
        }
        for (const { variableId, lastVersionTimestamp } of made.written) {
          const given = [...versions.values()].flat().filter((row) => row.variableId === variableId);
          expect(lastVersionTimestamp).toBe(Math.max(...given.map((row) => row.versionTimestamp)));
        }
      }),
    );
  });

  it('the date ranges (sequences with equal steps) contain every date of the write up to the high-water mark', () => {
    fc.assert(
      fc.property(batches, states, (given, known) => {
        const made = plan(given, ...known);
        const dates = (isVersioned: boolean, isStored: boolean) =>
          decode(made.current).flatMap((row) => {
            const one = known.find(({ variableId }) => variableId === row.variableId);
            const isWanted = one?.isVersioned === isVersioned && (!isStored || row.dateMicros <= one.maxDateMicros);
            return isWanted ? `${row.variableId} ${row.dateMicros} ${row.versionTagId}` : [];
          });
        for (const [set, isVersioned] of [
          ['overwritten', false],
          ['superseded', true],
        ] as const) {
          const ranges = expand(made, set);
          expect(new Set(ranges).size).toBe(ranges.length);
          expect(ranges).toEqual(expect.arrayContaining(dates(isVersioned, true)));
          expect(dates(isVersioned, false)).toEqual(expect.arrayContaining(ranges));
        }
      }),
    );
  });

  it('reports, for each variable, the first and the last date written and the number of rows (R-F1)', () => {
    fc.assert(
      fc.property(batches, states, (given, known) => {
        const made = plan(given, ...known);
        const rowsOf = (id: number) => given.flat().filter(({ variableId }) => variableId === id);
        expect(made.written.map(({ variableId }) => variableId).sort()).toEqual(
          known.map(({ variableId }) => variableId).filter((id) => rowsOf(id).length > 0),
        );
        for (const { variableId, fromMicros, toMicros, count } of made.written) {
          const dates = rowsOf(variableId).map(({ dateMicros }) => dateMicros);
          expect([fromMicros, toMicros, count]).toEqual([Math.min(...dates), Math.max(...dates), dates.length]);
        }
      }),
    );
  });

  it('uses the given buffer without a copy when the dates of every variable ascend strictly', () => {
    const tuples = encodeTuples([point(1, 0), point(2, 0), point(1, HOUR), point(2, HOUR)]);
    const known = new Map([1, 2].map((variableId) => [variableId, series({ variableId })]));
    expect(planWrite([tuples], known, NOW).current).toEqual([tuples]);
    expect(planWrite([tuples], known, NOW).current[0]).toBe(tuples);
  });

  it('combines successive dates into one date range when they are in the same chunk, equally spaced and at most an hour apart', () => {
    const stored = series({ variableId: 1, maxDateMicros: NOW });
    const runsOf = (dates: readonly number[]) =>
      [...plan([dates.map((date) => point(1, date))], stored).chunks.values()].map(({ superseded }) =>
        superseded.fromMicros.map((from, index) => [from, superseded.toMicros[index], superseded.stepMicros[index]]),
      );
    const quarters = Array.from({ length: 96 }, (_, index) => index * 15 * MINUTE);
    expect(runsOf(quarters)).toEqual([[[0, 95 * 15 * MINUTE, 15 * MINUTE]]]);
    expect(runsOf([0, 24 * HOUR, 48 * HOUR])).toEqual([[0, 24 * HOUR, 48 * HOUR].map((date) => [date, date, 1])]);
    expect(runsOf([0, HOUR, 3 * HOUR])).toEqual([
      [
        [0, HOUR, HOUR],
        [3 * HOUR, 3 * HOUR, 1],
      ],
    ]);
    expect(runsOf([-2 * HOUR, -HOUR, 0, HOUR])).toEqual([[[-2 * HOUR, -HOUR, HOUR]], [[0, HOUR, HOUR]]]);
  });

  it('a row replaces the stored version that has the same date and VersionTag (R-F2)', () => {
    const known = series({ variableId: 1, maxDateMicros: NOW, lastVersionTagId: 5 });
    const replaced = (tagId: number) => expand(plan([[point(1, 0, tagId)]], known), 'replaced');
    expect(replaced(5)).toEqual(['1 0 5']);
    expect(replaced(6), 'a tag made after the last one written').toEqual([]);
    expect(replaced(0), 'no tag').toEqual([]);
    const twice = plan([[point(1, 0, 3), point(1, 0, 4)]], known);
    expect(byText(expand(twice, 'replaced')), 'also of a row superseded in the same write').toEqual(['1 0 3', '1 0 4']);
    expect(twice.written).toMatchObject([{ lastVersionTagId: 5 }]);
    expect(plan([[point(1, 0, 9)]], known).written).toMatchObject([{ lastVersionTagId: 9 }]);
  });

  it('lists a date in `limited` only if the number of its versions could exceed the limit (R-F3)', () => {
    const limited = (given: Partial<Series>, rows = [point(1, 0)]) => {
      const known = series({ variableId: 1, versionLimit: 3, maxDateMicros: NOW, ...given });
      const made = plan([rows], known);
      return [expand(made, 'limited').length, made.written[0]?.versionBound];
    };
    expect(limited({ versionBound: 2 })).toEqual([0, 3]);
    expect(limited({ versionBound: 3 })).toEqual([1, 4]);
    expect(limited({ versionBound: 3, maxDateMicros: -1 }), 'a new date').toEqual([0, 3]);
    expect(limited({ versionBound: 0, maxDateMicros: -1 }), 'the first').toEqual([0, 1]);
    const repeated = [1, 2, 3, 4].map((value) => point(1, 0, 0, value));
    expect(limited({ versionBound: 0, maxDateMicros: -1 }, repeated), 'many of one date').toEqual([1, 4]);
    expect(limited({ versionBound: 9, isVersioned: false }), 'not versioned').toEqual([0, 9]);
  });

  it('lists the written dates of a variable that has history but is no longer versioned, so that the history of these dates is deleted (R-C6)', () => {
    const forgotten = (hasHistory: boolean) => {
      const known = series({ variableId: 1, isVersioned: false, maxDateMicros: NOW, hasHistory });
      return expand(plan([[point(1, 0)]], known), 'forgotten');
    };
    expect(forgotten(true)).toEqual(['1 0 0']);
    expect(forgotten(false)).toEqual([]);
  });

  it('targetsOf returns the variable ids of all batches in ascending order, and the chunks of all batches', () => {
    fc.assert(
      fc.property(batches, (given) => {
        const rows = given.flat();
        const { variableIds, chunkNumbers } = targetsOf(given.map(encodeTuples));
        expect(variableIds).toEqual([...new Set(rows.map(({ variableId }) => variableId))].sort((a, b) => a - b));
        expect(chunkNumbers).toEqual(new Set(rows.map(({ dateMicros }) => chunkOf(dateMicros))));
      }),
    );
  });
});
