/** Conversion of a script's result to the points that are stored (§7, §9.4, R-H3). */
import { describe, expect, test } from 'vitest';
import { type OutputSettings, planOutput, SLICE_ROWS } from '../../../src/calculation/run/output-rules.ts';
import type { OutputSeries } from '../../../src/calculation/sandbox/sandbox-types.ts';
import { codedText } from '../../fixtures/scripts/harness.ts';

const DEFAULT = '2026-03-01T15:00:00';
const VERSIONED: OutputSettings = { isVersioned: true, defaultVersion: DEFAULT };
const OVERWRITTEN: OutputSettings = { isVersioned: false, defaultVersion: DEFAULT };

function output(columns: { dates?: number[]; values?: number[]; versions?: string[]; tags?: string[] }): OutputSeries {
  const { dates = [1, 2], values = dates, versions, tags } = columns;
  return {
    dates: Float64Array.from(dates),
    values: Float64Array.from(values),
    versions: versions ? codedText(versions) : null,
    tags: tags ? codedText(tags) : null,
  };
}

/** Plans the output. @returns every point to store, the counts and the warnings. */
function take(series: OutputSeries, settings: OutputSettings) {
  const plan = planOutput(series, settings);
  if (plan.kind !== 'ok') throw new Error(plan.message);
  const points = [...plan.output.slices()].flat();
  return { points, counts: plan.output.counts(), warnings: plan.output.warnings() };
}

/** @returns the VersionTag and the tags of every point to store, in the order of the points. */
function labels(series: OutputSeries, settings: OutputSettings) {
  return take(series, settings).points.map((point) => [point.labels.version, point.labels.tags]);
}

describe('output: stored rows get the labels that the table of §9.4 prescribes', () => {
  const copied = (version: string) => JSON.stringify({ version });
  test.each([
    [
      'without versioning, rows with neither Version nor Tags are stored without labels',
      OVERWRITTEN,
      {},
      [undefined, null],
      [undefined, null],
    ],
    [
      'with versioning, every row gets the default Version when there is no Version column',
      VERSIONED,
      {},
      [DEFAULT, copied(DEFAULT)],
      [DEFAULT, copied(DEFAULT)],
    ],
    [
      'with versioning, each row keeps its own Version',
      VERSIONED,
      { versions: ['a', 'b'] },
      ['a', copied('a')],
      ['b', copied('b')],
    ],
    [
      'with versioning, a row with an empty Version gets the default Version',
      VERSIONED,
      { versions: ['a', ''] },
      ['a', copied('a')],
      [DEFAULT, copied(DEFAULT)],
    ],
    [
      'with versioning, rows with Tags but no Version get the default Version and keep their Tags',
      VERSIONED,
      { tags: ['{"q":"e"}', ''] },
      [DEFAULT, `{"q":"e","version":"${DEFAULT}"}`],
      [DEFAULT, copied(DEFAULT)],
    ],
    [
      'with versioning, rows keep Version and Tags; Tags without a key `version` get a copy of the Version',
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

  test('when the variable is not versioned, a row is stored with its Tags but without its Version (R-F4)', () => {
    expect(labels(output({ versions: ['a', 'b'], tags: ['{"q":"e"}', ''] }), OVERWRITTEN)).toEqual([
      [undefined, '{"q":"e"}'],
      [undefined, null],
    ]);
  });
});

describe('output: column lengths (§7)', () => {
  test.each([
    ['Version must be the same length as Dates/Values', { versions: ['a'] }],
    ['Tags must be the same length as Dates/Values', { tags: ['', '', ''] }],
    ['Dates and Values must be the same length, got 2 and 1', { values: [1] }],
  ])('a wrong length fails the run with the message "%s"', (message, columns) => {
    expect(planOutput(output(columns), VERSIONED)).toEqual({ kind: 'invalid', message });
  });
});

describe('output: limits of Version texts (§7)', () => {
  test('a Version of 200 characters is stored', () => {
    const version = 'v'.repeat(200);
    expect(labels(output({ versions: ['a', version] }), VERSIONED)[1]?.[0]).toBe(version);
  });

  test.each([
    ['201 characters', 'v'.repeat(201), 'Version must be at most 200 characters, got 201 at 1970-01-01T00:00:02Z'],
    ['a NUL', 'a\0b', 'Version must not contain U+0000 or an unpaired surrogate'],
    ['an unpaired surrogate', '\ud800', 'Version must not contain U+0000 or an unpaired surrogate'],
  ])('one Version with %s fails the run, although the other Version is valid (§7)', (_what, version, message) => {
    expect(planOutput(output({ versions: ['a', version] }), VERSIONED)).toEqual({ kind: 'invalid', message });
  });
});

test('output: the labels of a row come from both its Version cell and its Tags cell (§9.4)', () => {
  const versions = ['a', 'b', 'c', 'a', 'b', 'c'];
  const tags = ['{"k":"x"}', '{"k":"x"}', '{"k":"x"}', '{"k":"y"}', '{"k":"y"}', '{"k":"y"}'];
  const series = output({ dates: [1, 2, 3, 4, 5, 6], versions, tags });
  expect(labels(series, VERSIONED)).toEqual(
    versions.map((version, row) => [version, `${tags[row]?.slice(0, -1)},"version":"${version}"}`]),
  );
});

test('output: slices without a row to store are left out (R-H3)', () => {
  const plan = planOutput(output({ values: [Number.NaN, Number.NaN] }), OVERWRITTEN);
  expect(plan.kind === 'ok' && [...plan.output.slices()]).toEqual([]);
});

test('output: rows whose date or value is not finite are dropped and counted (R-H3)', () => {
  const infinity = Number.POSITIVE_INFINITY;
  const series = output({ dates: [3, Number.NaN, infinity, 1, 2], values: [30, 1, 1, Number.NaN, infinity] });
  const { points, counts } = take(series, OVERWRITTEN);
  expect(counts).toEqual({ returned: 5, dropped: 4, outside: 0, merged: 0, stored: 1 });
  expect(points.map(({ dateMicros, value }) => [dateMicros, value])).toEqual([[3_000_000, 30]]);
});

test('output: when rows are returned but none is stored, a warning is given; when only some rows are dropped, no warning is given (R-H3)', () => {
  const warning =
    'no row of the formula is stored: no returned row has both a date and a finite value; rows returned: 2';
  expect(take(output({ dates: [1, Number.NaN], values: [Number.NaN, 2] }), OVERWRITTEN).warnings).toEqual([warning]);
  expect(take(output({ dates: [1, 2], values: [Number.NaN, 2] }), OVERWRITTEN).warnings).toEqual([]);
  const period = { fromMicros: 9_000_000, untilMicros: 10_000_000 };
  expect(take(output({ dates: [1, 2], values: [Number.NaN, 2] }), { ...OVERWRITTEN, period }).warnings).toEqual([
    'no row of the formula is stored: each date must be in the period in which the formula is valid, and in the whole ' +
      'periods read from each RelativeDate or LastNPoints input that has `alignTo` (from 1970-01-01T00:00:09Z, before 1970-01-01T00:00:10Z); rows that break this rule: 1 of 2',
  ]);
  const open = { fromMicros: Number.NEGATIVE_INFINITY, untilMicros: 0 };
  expect(take(output({}), { ...OVERWRITTEN, period: open }).warnings.join()).toContain('(before 1970-01-01T00:00:00Z)');
});

test('output: for a date in milliseconds, the error asks "are these milliseconds?" (R-H2)', () => {
  const messageOf = (date: number) => {
    const plan = planOutput(output({ dates: [date] }), OVERWRITTEN);
    return plan.kind === 'invalid' ? plan.message : undefined;
  };
  expect(messageOf(Date.UTC(2026, 0, 1))).toContain('are these milliseconds?');
  expect(messageOf(Date.UTC(2200, 0, 1) / 1000)).toMatch(/2200-01-01T00:00:00\.000Z\)$/);
});

test('output: rows outside the validity of the formula are left out and counted; the end of the validity is exclusive (R-H1)', () => {
  const period = { fromMicros: 2_000_000, untilMicros: 4_000_000 };
  const { points, counts } = take(output({ dates: [1, 2, 3, 4] }), { ...OVERWRITTEN, period });
  expect(points.map(({ value }) => value)).toEqual([2, 3]);
  expect(counts).toEqual({ returned: 4, dropped: 0, outside: 2, merged: 0, stored: 2 });
});

describe('output: rows with the same date', () => {
  const warning = (count: number, same: string) =>
    `of the rows with the same ${same}, only the last is stored; rows left out: ${count}, the first at 1970-01-01T00:00:01Z`;

  test('only the last row is stored, and a warning counts the rows left out (R-H3)', () => {
    const taken = take(output({ dates: [1, 1, 1, 2], values: [10, 20, 30, 40] }), OVERWRITTEN);
    expect(taken.points.map(({ value }) => value)).toEqual([30, 40]);
    expect(taken.counts).toMatchObject({ returned: 4, merged: 2, stored: 2 });
    expect(taken.warnings).toEqual([warning(2, 'date')]);
  });

  test('with versioning, the last row of each Version is stored, and the stored rows keep their order (§9.2, R-H3)', () => {
    const series = output({ dates: [1, 1, 1, 2], values: [10, 20, 30, 40], versions: ['a', 'b', 'a', 'a'] });
    const taken = take(series, VERSIONED);
    expect(taken.points.map(({ value, labels: { version } }) => [value, version])).toEqual([
      [20, 'b'],
      [30, 'a'],
      [40, 'a'],
    ]);
    expect(taken.warnings).toEqual([warning(1, 'date and Version')]);
  });

  test('only one row is stored, even if the rows are in different slices of the output (R-H3)', () => {
    const dates = Array.from({ length: SLICE_ROWS + 1 }, (_, row) => Math.min(row, SLICE_ROWS - 1));
    expect(take(output({ dates }), OVERWRITTEN).counts).toMatchObject({ merged: 1, stored: SLICE_ROWS });
  });
});

test('output: a series of many rows is divided into slices, and each row keeps its tags (R-H3)', () => {
  const rows = 2 * SLICE_ROWS + 1;
  const texts = Array.from({ length: 7 }, (_, index) => JSON.stringify({ k: String(index) }));
  const series = {
    ...output({ dates: Array.from({ length: rows }, (_, row) => row) }),
    tags: { codes: Int32Array.from({ length: rows }, (_, row) => row % 7), texts },
  };
  const plan = planOutput(series, OVERWRITTEN);
  const slices = plan.kind === 'ok' ? [...plan.output.slices()] : [];
  expect(slices.map(({ length }) => length)).toEqual([SLICE_ROWS, SLICE_ROWS, 1]);
  expect(slices.flat().every(({ value, labels: { tags } }) => tags === texts[value % 7])).toBe(true);
});

test('output: a Tags cell with 50 keys is valid, one with 51 keys is not; the warning counts the invalid cells and gives the date of the first invalid cell (§7)', () => {
  const tagsOf = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index + 10}`, 'v'])));
  const series = output({ dates: [1, 2, 3], tags: [tagsOf(50), tagsOf(51), '[]'] });
  expect(labels(series, OVERWRITTEN).map(([, tags]) => tags)).toEqual([tagsOf(50), null, null]);
  expect(take(series, OVERWRITTEN).warnings).toEqual([
    'a Tags cell must be empty or a JSON object of at most 50 keys with string values, and must not contain U+0000 or an unpaired surrogate; rows with an invalid Tags cell, which is ignored: 2, the first at 1970-01-01T00:00:02Z',
  ]);
});

test.each([
  'not json',
  '[]',
  '"text"',
  'null',
  '{"k":1}',
  '{"k":null}',
  '{"k":{"a":"b"}}',
  '{"k":"a\\u0000b"}',
  '{"a":"b","k":1}',
])(
  'output: a row whose Tags cell is the invalid text %s is stored without tags, and a warning is given (§7)',
  (cell) => {
    const { points, warnings } = take(output({ tags: [cell, '{"q":"e"}'] }), OVERWRITTEN);
    expect(points.map((point) => point.labels.tags)).toEqual([null, '{"q":"e"}']);
    expect(warnings).toEqual([
      'a Tags cell must be empty or a JSON object of at most 50 keys with string values, and must not contain U+0000 or an unpaired surrogate; rows with an invalid Tags cell, which is ignored: 1, the first at 1970-01-01T00:00:01Z',
    ]);
  },
);

test.each([
  [[1.5, 2], /got 1\.5$/],
  [[1, 8e9], /whole UNIX seconds from 1700-01-01 to 2199-12-31, got 8000000000 \(2223-07-06T14:13:20\.000Z\)$/],
  [[1, 1e300], /got 1e\+300$/],
])(
  'output: the dates %j fail the run, and the error names the date that is fractional or out of range (R-H2)',
  (dates, message) => {
    expect(planOutput(output({ dates }), OVERWRITTEN)).toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(message),
    });
  },
);

test('output: dates outside the range of R integers are stored (R-H2)', () => {
  expect(take(output({ dates: [-(2 ** 31), 2 ** 31] }), OVERWRITTEN).points).toHaveLength(2);
});

test('output: an empty series is a valid result (R-H3)', () => {
  const counts = { returned: 0, dropped: 0, outside: 0, merged: 0, stored: 0 };
  expect(take(output({ dates: [] }), VERSIONED)).toEqual({ points: [], counts, warnings: [] });
});
