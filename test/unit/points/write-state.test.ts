/**
 * Tests two results of a write plan: the new write state of a variable, and the stored dates that the write touches
 * (§9.2, R-F1 to R-F4).
 */
import { describe, expect, it } from 'vitest';
import { encodeTuples } from '../../../src/points/copy-codec.ts';
import type { PointEntry } from '../../../src/points/point.ts';
import type { ChunkRanges } from '../../../src/points/write/date-ranges-rules.ts';
import { planWrite } from '../../../src/points/write/plan-write-rules.ts';
import type { Series } from '../../../src/points/write/survey-rows-rules.ts';

const HOUR = 3_600_000_000;
const MARK = 10 * HOUR;
const LAST_TAG = 5;

function plan(rows: readonly (readonly [date: number, tagId: number])[], given: Partial<Series> = {}) {
  const series: Series = {
    variableId: 1,
    accountId: 1,
    isVersioned: true,
    versionLimit: 7,
    maxDateMicros: MARK,
    lastVersionTimestamp: Number.NEGATIVE_INFINITY,
    hasHistory: false,
    lastVersionTagId: LAST_TAG,
    versionBound: 1,
    isHistoryCut: false,
    ...given,
  };
  const entries = rows.map(([dateMicros, versionTagId]): PointEntry => {
    return { variableId: 1, dateMicros, value: 1, versionTagId, tagSetId: 0 };
  });
  return planWrite([encodeTuples(entries)], new Map([[1, series]]), 10 ** 15);
}

function datesIn(planned: ReturnType<typeof plan>, set: keyof ChunkRanges): readonly string[] {
  return [...planned.chunks.values()].flatMap(({ [set]: ranges }) =>
    ranges.fromMicros.map(
      (from, index) => `${from / HOUR}-${(ranges.toMicros[index] ?? 0) / HOUR} ${ranges.versionTagIds[index]}`,
    ),
  );
}

describe('write plan: the write state', () => {
  it.each([
    [{ hasHistory: true, isAppend: false }, 'a date before the high-water mark', [[MARK - HOUR, 0]], {}],
    [{ hasHistory: true, isAppend: false }, 'the date of the high-water mark', [[MARK, 0]], {}],
    [{ hasHistory: false, isAppend: true }, 'a date after the high-water mark', [[MARK + 1, 0]], {}],
    [
      { hasHistory: true },
      'a date after the high-water mark of a variable with history',
      [[MARK + 1, 0]],
      { hasHistory: true },
    ],
    [{ hasHistory: true, isAppend: false }, 'dates on both sides of the high-water mark', [[MARK, 0], [MARK + HOUR, 0]], {}], // biome-ignore format: one case a line
    [{ hasHistory: true, isAppend: false }, 'two versions of a date after the high-water mark', [[MARK + 1, 1], [MARK + 1, 2]], {}], // biome-ignore format: one case a line
    [{ hasHistory: false, isAppend: true }, 'a VersionTag twice at a date after the high-water mark', [[MARK + 1, 1], [MARK + 1, 1]], {}], // biome-ignore format: one case a line
    [{ hasHistory: false, isAppend: false }, 'the date of the high-water mark to an unversioned variable', [[MARK, 0]], { isVersioned: false }], // biome-ignore format: one case a line
    [{ hasHistory: true }, 'the date of the high-water mark to an unversioned variable with history', [[MARK, 0]], { isVersioned: false, hasHistory: true }], // biome-ignore format: one case a line
  ] as const)('is %j after a write of %s (R-F1, R-F4)', (expected, _case, rows, given) => {
    expect(plan(rows, given).written).toMatchObject([expected]);
  });
});

describe('write plan: the greatest VersionTag id of a variable', () => {
  it.each([
    ['becomes the greatest id in the write when that id is greater', [7, 9, 8], {}, 9],
    ['stays the same when every id in the write is smaller', [2, 4, 3], {}, LAST_TAG],
    ['stays the same when the variable is not versioned', [9], { isVersioned: false }, LAST_TAG],
  ] as const)('%s (R-F2, R-F4)', (_case, tagIds, given, lastVersionTagId) => {
    const rows = tagIds.map((tagId, index) => [MARK + index, tagId] as const);
    expect(plan(rows, given).written).toMatchObject([{ lastVersionTagId }]);
  });
});

describe('write plan: date ranges in which the write looks for stored rows', () => {
  it('if the dates of the write strictly ascend, no range contains a date after the high-water mark', () => {
    const planned = plan([[MARK - HOUR, 0], [MARK, 0], [MARK + HOUR, 0]]); // biome-ignore format: short
    expect(datesIn(planned, 'superseded')).toEqual(['9-10 0']);
    expect(plan([[MARK + HOUR, 0]]).chunks.size).toBe(0);
  });

  it('a date after the high-water mark is in a range only if the write has several rows for that date', () => {
    const unordered = plan([[MARK + 2 * HOUR, 0], [MARK + HOUR, 0], [MARK, 0]]); // biome-ignore format: short
    expect(datesIn(unordered, 'superseded')).toEqual(['10-10 0']);
    const repeated = plan([[MARK + HOUR, 1], [MARK + HOUR, 2], [MARK + 2 * HOUR, 2]]); // biome-ignore format: short
    expect(datesIn(repeated, 'superseded')).toEqual(['11-11 2']);
  });

  it('a row that a later row of the write supersedes gets no range, unless its date and VersionTag may already be stored (R-F2)', () => {
    const after = plan([[MARK + HOUR, 3], [MARK + HOUR, 4]]); // biome-ignore format: short
    expect(datesIn(after, 'replaced')).toEqual(['11-11 4']);
    const stored = plan([[MARK, 3], [MARK, LAST_TAG + 1], [MARK, LAST_TAG]]); // biome-ignore format: short
    expect([...datesIn(stored, 'replaced')].sort()).toEqual(['10-10 3', `10-10 ${LAST_TAG}`]);
  });

  it('each range states the version limit of its variable (R-F3)', () => {
    const { chunks } = plan([[MARK, 0]], { versionLimit: 3 });
    expect([...chunks.values()].map(({ superseded }) => superseded.versionLimits)).toEqual([[3]]);
  });
});

it('write plan: superseded rows go to a buffer of their own (§9.2)', () => {
  expect(plan([[MARK, 0]]).earlier).toEqual([]);
  const { current, earlier } = plan([[MARK, 1], [MARK, 2]]); // biome-ignore format: short
  expect([current.length, earlier.length]).toEqual([1, 1]);
});
