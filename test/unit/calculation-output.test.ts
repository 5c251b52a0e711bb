import { describe, expect, test } from 'vitest';
import { type OutputSettings, planOutput } from '../../src/calculation/output-rules.ts';
import type { OutputSeries } from '../../src/calculation/sandbox/sandbox-types.ts';

const DEFAULT = '2026-03-01T15:00:00';
const VERSIONED: OutputSettings = { isVersioned: true, defaultVersion: DEFAULT };
const OVERWRITTEN: OutputSettings = { isVersioned: false, defaultVersion: DEFAULT };

function output(columns: { dates?: number[]; values?: number[]; versions?: string[]; tags?: string[] }): OutputSeries {
  const { dates = [1, 2], values = dates, versions = null, tags = null } = columns;
  return { dates: Float64Array.from(dates), values: Float64Array.from(values), versions, tags };
}

/** VersionTags and tags of what is stored, in order. */
function labels(series: OutputSeries, settings: OutputSettings) {
  const plan = planOutput(series, settings);
  if (plan.kind !== 'ok') throw new Error(plan.message);
  return plan.points.map((point) => [point.labels.version, point.labels.tags]);
}

describe('the table of §9.4', () => {
  const copied = (version: string) => JSON.stringify({ version });
  test.each([
    ['off, no Version, no Tags: neither is stored', OVERWRITTEN, {}, [undefined, null], [undefined, null]],
    ['on, no Version: the default on every row', VERSIONED, {}, [DEFAULT, copied(DEFAULT)], [DEFAULT, copied(DEFAULT)]],
    ['on, Version per row: kept', VERSIONED, { versions: ['a', 'b'] }, ['a', copied('a')], ['b', copied('b')]],
    [
      'on, some empty: those get the default',
      VERSIONED,
      { versions: ['a', ''] },
      ['a', copied('a')],
      [DEFAULT, copied(DEFAULT)],
    ],
    [
      'on, Tags alone: default Version plus the tags',
      VERSIONED,
      { tags: ['{"q":"e"}', ''] },
      [DEFAULT, `{"q":"e","version":"${DEFAULT}"}`],
      [DEFAULT, copied(DEFAULT)],
    ],
    [
      'on, both: as supplied',
      VERSIONED,
      { versions: ['a', 'b'], tags: ['{"q":"e","version":"mine"}', '{"k":"v"}'] },
      ['a', '{"q":"e","version":"mine"}'],
      ['b', '{"k":"v","version":"b"}'],
    ],
  ] as const)('%s', (_row, settings, columns, first, second) => {
    const { versions, tags } = columns as { versions?: string[]; tags?: string[] };
    const given = { ...(versions && { versions: [...versions] }), ...(tags && { tags: [...tags] }) };
    expect(labels(output(given), settings)).toEqual([first, second]);
  });

  test('off: a Version of the script is not kept as a version, its tags are (R-F4)', () => {
    expect(labels(output({ versions: ['a', 'b'], tags: ['{"q":"e"}', ''] }), OVERWRITTEN)).toEqual([
      [undefined, '{"q":"e"}'],
      [undefined, null],
    ]);
  });
});

describe('lengths (§7)', () => {
  test.each([
    ['Version must be the same length as Dates/Values', { versions: ['a'] }],
    ['Tags must be the same length as Dates/Values', { tags: ['', '', ''] }],
    ['Dates and Values must be the same length, got 2 and 1', { values: [1] }],
  ])('%s', (message, columns) => {
    expect(planOutput(output(columns), VERSIONED)).toEqual({ kind: 'invalid', message });
  });
});

test('rows without a date or a finite value are dropped and counted (R-H3)', () => {
  const series = output({ dates: [3, Number.NaN, 1, 2], values: [30, 1, Number.NaN, Number.POSITIVE_INFINITY] });
  const plan = planOutput(series, OVERWRITTEN);
  expect(plan).toMatchObject({ kind: 'ok', droppedCount: 3 });
  expect(plan.kind === 'ok' && plan.points.map(({ dateMicros, value }) => [dateMicros, value])).toEqual([
    [3_000_000, 30],
  ]);
});

test('points leave in date order, those of one date in the order returned', () => {
  const plan = planOutput(output({ dates: [2, 1, 2], values: [1, 2, 3] }), OVERWRITTEN);
  expect(plan.kind === 'ok' && plan.points.map(({ value }) => value)).toEqual([2, 1, 3]);
});

test.each(['not json', '[]', '"text"', 'null', '{"k":1}', '{"k":null}', '{"k":{"a":"b"}}', '{"k":"a\\u0000b"}'])(
  'a Tags cell %s costs its row the tags, with a warning, and nothing else (§7)',
  (cell) => {
    const plan = planOutput(output({ tags: [cell, '{"q":"e"}'] }), OVERWRITTEN);
    expect(plan.kind === 'ok' && plan.points.map((point) => point.labels.tags)).toEqual([null, '{"q":"e"}']);
    expect(plan.kind === 'ok' && plan.warnings).toEqual([
      'a Tags cell must be empty or a JSON object with string values; the tags of 1 rows were dropped, the first is row 1',
    ]);
  },
);

test('a date that is no whole second, or outside what can be stored, fails the run and says which', () => {
  expect(planOutput(output({ dates: [1.5, 2] }), OVERWRITTEN)).toMatchObject({
    kind: 'invalid',
    message: expect.stringMatching(/got 1\.5$/),
  });
  expect(planOutput(output({ dates: [1, 1e12] }), OVERWRITTEN)).toMatchObject({ kind: 'invalid' });
});

test('an empty series is a result', () => {
  expect(planOutput(output({ dates: [] }), VERSIONED)).toEqual({
    kind: 'ok',
    points: [],
    droppedCount: 0,
    warnings: [],
  });
});
