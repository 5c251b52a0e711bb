import { describe, expect, test } from 'vitest';
import { writeAgo, writeMoment } from '../../../src/console/parts/moment-text.ts';
import {
  bucketAt,
  chartStepOf,
  planResolution,
  pointQuery,
  spacingOf,
} from '../../../src/console/variable/chart-rules.ts';
import { applyChange, editOne, MAX_CORRECTED, toStep } from '../../../src/console/variable/correct/correction-rules.ts';
import { toExports } from '../../../src/console/variable/export/export-rules.ts';
import { toSnippet } from '../../../src/console/variable/export/snippets.ts';
import { parseSearch } from '../../../src/console/variable/variable-address.ts';

const DAY_SEC = 86_400;
const planOf = (granularity: number | null, timeBase: string | null, spacingSec: number | undefined, days: number) => {
  const range = { from: 0, to: days * DAY_SEC };
  return planResolution(range, chartStepOf(granularity, timeBase, { ...range, spacingSec }));
};

describe('console chart: few points are drawn as raw points, many points as buckets', () => {
  test.each([
    ['a year of 15-minute points', 'Raw', 15, 'Minute', 900, 366],
    ['ten years of 15-minute points', 'Day', 15, 'Minute', 900, 3660],
    ['a million 1-minute points', 'Day', 1, 'Minute', 60, 695],
    ['three days of 1-second points', 'Minute', 1, 'Second', 1, 3],
    ['twenty years of 15-minute points', 'Month', 15, 'Minute', 900, 7320],
    ['ten days of 1-second points without a granularity', 'Hour', null, null, 1, 10],
    ['ten days of 1-second points that are declared as 15-minute points', 'Hour', 15, 'Minute', 1, 10],
    ['a year of hourly points without a granularity', 'Raw', null, null, 3600, 366],
    ['one point without a granularity', 'Raw', null, null, undefined, 366],
    ['several points of one date', 'Raw', null, null, 0, 366],
  ] as const)('for %s, the resolution is %s', (_what, expected, granularity, timeBase, spacingSec, days) => {
    expect(planOf(granularity, timeBase, spacingSec, days)).toBe(expected);
  });
});

test('console chart: the usual distance between points is the median distance, which a gap does not change; a single point has no usual distance', () => {
  expect(spacingOf([30, 10, 20, 5000])).toBe(10);
  expect(spacingOf([1])).toBeUndefined();
});

test('console chart: the bucket of an average ends where the next bucket begins; the last bucket ends with the range', () => {
  const range = { from: 0, to: 300 };
  expect(bucketAt([0, 100, 200], 100, range)).toEqual({ from: 100, to: 200 });
  expect(bucketAt([0, 100, 200], 200, range)).toEqual({ from: 200, to: 300 });
});

describe('console instants: local times that occur twice when summer time ends', () => {
  const shortly = (instant: string, timeZone = 'Europe/Brussels') =>
    writeMoment(instant, { dateStyle: 'medium', timeStyle: 'short' }, timeZone, 'en-GB');
  test('each occurrence is written with its offset from GMT; the hours before and after are written without one', () => {
    const twice = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map((instant) => shortly(instant));
    expect(twice.map((text) => /GMT\+\d$/.exec(text)?.[0])).toEqual(['GMT+2', 'GMT+1']);
    expect(shortly('2026-10-25T02:30:00Z')).not.toContain('GMT');
    expect(shortly('2026-10-24T23:30:00Z')).not.toContain('GMT');
  });

  test.each([
    ['half an hour', 'Australia/Lord_Howe', '2026-04-04T14:45:00Z', '2026-04-04T15:15:00Z'],
    ['two hours', 'Antarctica/Troll', '2026-10-24T23:30:00Z', '2026-10-25T01:30:00Z'],
  ])('the offset is also written where clocks go back by %s, in %s', (_, zone, ...twice) => {
    const texts = twice.map((instant) => shortly(instant, zone));
    expect(texts.every((text) => text.includes('GMT'))).toBe(true);
    expect(new Set(texts).size).toBe(2);
  });
});

test.each([
  ['3 days ago', -3 * DAY_SEC - 3600],
  ['yesterday', -DAY_SEC],
  ['in 2 hours', 2 * 3600 + 60],
  ['59 seconds ago', -59],
  ['now', 59],
])('console instants: "%s" is shown for the current time plus %i seconds', (expected, seconds) => {
  const nowMs = Date.parse('2026-03-01T12:00:00Z');
  expect(writeAgo(new Date(nowMs + seconds * 1000).toISOString(), nowMs, 'en')).toBe(expected);
});

describe('console correction: the dates of missing points are computed in local time', () => {
  const zone = 'Europe/Brussels';
  const sec = (instant: string) => Date.parse(instant) / 1000;
  const pointsOf = (...dates: string[]) => ({
    seconds: Float64Array.from(dates, sec),
    values: Float64Array.from(dates, (_, index) => 3 * index),
  });
  const datesOf = (edits: ReadonlyMap<number, number> = new Map()) =>
    [...edits.keys()].sort((a, b) => a - b).map((date) => new Date(date * 1000).toISOString().slice(0, 16));
  const range = { from: sec('2026-01-01T00:00:00Z'), to: sec('2026-12-31T00:00:00Z') };

  test('daily dates stay at local midnight when summer time ends', () => {
    const points = pointsOf('2026-10-23T22:00:00Z', '2026-10-26T23:00:00Z');
    const edits = applyChange('fill', 0, points, new Map(), range, toStep(1, 'Day', zone));
    expect(datesOf(edits)).toEqual(['2026-10-24T22:00', '2026-10-25T23:00']);
    expect([...(edits?.values() ?? [])].every((value) => value > 0 && value < 3)).toBe(true);
  });
  test('monthly dates fall on the first day of each month', () => {
    const points = pointsOf('2025-12-31T23:00:00Z', '2026-04-30T22:00:00Z');
    const edits = applyChange('fill', 0, points, new Map(), range, toStep(1, 'Month', zone));
    expect(datesOf(edits)).toEqual(['2026-01-31T23:00', '2026-02-28T23:00', '2026-03-31T22:00']);
  });
  test('in a range without points, a point is added at every multiple of the granularity', () => {
    const hour = { from: sec('2026-05-01T00:10:00Z'), to: sec('2026-05-01T01:00:00Z') };
    const edits = applyChange('create', 7, pointsOf(), new Map(), hour, toStep(15, 'Minute', zone));
    expect(datesOf(edits)).toEqual(['2026-05-01T00:15', '2026-05-01T00:30', '2026-05-01T00:45']);
    expect(new Set(edits?.values())).toEqual(new Set([7]));
  });
  test('points are added before, between and after the stored points', () => {
    const day = { from: sec('2026-05-01T00:00:00Z'), to: sec('2026-05-01T06:00:00Z') };
    const points = pointsOf('2026-05-01T01:00:00Z', '2026-05-01T03:00:00Z');
    const edits = applyChange('create', 7, points, new Map(), day, toStep(1, 'Hour', zone));
    expect(datesOf(edits).map((date) => date.slice(11))).toEqual(['00:00', '02:00', '04:00', '05:00']);
  });
});

describe('console correction: a change that leads to more than 5,000 edits is refused', () => {
  const minutes = (count: number) => ({ from: 0, to: 60 * count });
  const pointsOf = (count: number) => ({
    seconds: Float64Array.from({ length: count }, (_, minute) => 60 * minute),
    values: new Float64Array(count),
  });
  const step = toStep(1, 'Minute', 'UTC');

  test('adding 5,001 missing points is refused', () => {
    const add = (count: number) => applyChange('create', 7, pointsOf(0), new Map(), minutes(count), step);
    expect(MAX_CORRECTED).toBe(5000);
    expect(add(MAX_CORRECTED)?.size).toBe(MAX_CORRECTED);
    expect(add(MAX_CORRECTED + 1)).toBeUndefined();
  });

  test.each(['set', 'add', 'scale'] as const)(
    'the change "%s" is refused when it would edit 3,000 stored and 3,000 added points',
    (kind) => {
      const points = { ...pointsOf(3000), values: new Float64Array(3000).fill(1) };
      const added = applyChange('create', 7, points, new Map(), minutes(6000), step) ?? new Map();
      expect(added.size).toBe(3000);
      expect(applyChange(kind, 9, points, added, minutes(6000), step)).toBeUndefined();
    },
  );

  test('with 5,000 edits, an edit can be removed, but none can be added', () => {
    const points = pointsOf(1);
    const full = new Map(Array.from({ length: MAX_CORRECTED }, (_, index) => [60 * (index + 1), 7] as const));
    expect(editOne(points, full, 0, 9)).toBeUndefined();
    expect(editOne(points, full, 60, undefined)?.size).toBe(MAX_CORRECTED - 1);
  });
});

test('console chart: averages per day are requested in the time zone of the variable; raw points are requested without a time zone', () => {
  const range = { from: 0, to: 86_400 };
  expect(pointQuery(1, range, 'latest', 'Day', 'Europe/Brussels')).toMatchObject({
    granularity: 'Day',
    timeZoneId: 'Europe/Brussels',
  });
  expect(pointQuery(1, range, 'latest', 'Raw', 'Europe/Brussels')).not.toHaveProperty('timeZoneId');
});

describe('console export: the API calls that return what a chart shows', () => {
  const shown = {
    ...{ variableId: 1, others: [2, 3], range: { from: 0, to: 3600 } },
    ...({ resolution: 'Raw', timeZone: 'Europe/Brussels' } as const),
  };
  const now = '2026-11-20T00:00:00.000Z';
  test('one call exports the latest versions of several variables', () => {
    const [only, ...more] = toExports({ ...shown, selection: { kind: 'latest' } }, now);
    expect(only).toMatchObject({ path: '/data', query: { variableIds: '1,2,3' }, part: undefined });
    expect(more).toEqual([]);
  });
  test('when a chart shows several labels of one variable, each label takes one call, and the other variables share one more call', () => {
    const exports = toExports({ ...shown, selection: { kind: 'labels', labels: ['a', 'b'] } }, now);
    expect(exports.map(({ query }) => [query.variableIds, query.version])).toEqual([
      ['1', 'a'],
      ['1', 'b'],
      ['2,3', undefined],
    ]);
    expect(toSnippet('Python', 'https://api.test', exports).match(/points_\d = /g)).toHaveLength(3);
  });
  test('one call exports all variables as known at an instant', () => {
    const at = '2026-11-19T00:00:00.000Z';
    const exports = toExports({ ...shown, selection: { kind: 'known', at } }, now);
    expect(exports).toMatchObject([{ path: '/data', query: { variableIds: '1,2,3', asOf: at }, part: undefined }]);
  });
  test.each([
    ['label:a', 'known:2026-11-19T00:00:00.000Z', { leftVersion: 'a', rightAsOf: '2026-11-19T00:00:00.000Z' }],
    ['latest', 'label:b', { leftAsOf: now, rightVersion: 'b' }],
  ] as const)('one call exports both sides of a comparison of %s and %s', (left, right, sides) => {
    const exports = toExports({ ...shown, others: [], selection: { kind: 'compare', left, right } }, now);
    expect(exports).toMatchObject([
      { path: '/data/compare', query: { variableId: 1, from: '1970-01-01T00:00:00.000Z', ...sides }, part: undefined },
    ]);
  });
});

test('console address: an instant `at` that is not a date is dropped; a valid one keeps its microseconds', () => {
  expect(parseSearch({ v: 'known', at: 'garbage' })).toEqual({ v: 'known' });
  const at = '2026-03-01T00:00:00.000001Z';
  expect(parseSearch({ v: 'known', at })).toEqual({ v: 'known', at });
});
