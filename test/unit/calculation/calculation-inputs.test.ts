/** Conversion of points to the columns that a script sees (R-H2). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InputColumns } from '../../../src/calculation/inputs/input-columns.ts';
import type { PointChunk } from '../../../src/points/point.ts';
import { textsOf } from '../../fixtures/scripts/harness.ts';

const LABELS = {
  versionTag: (id: number) => (id === 0 ? null : `v${id}`),
  tags: (id: number) => (id === 0 ? null : `{"t":"${id}"}`),
};

/**
 * @param dates dates of the points in microseconds.
 * @returns points whose values count up from `first`, and whose label ids are derived from the value.
 */
function chunk(dates: readonly number[], first = 0): PointChunk {
  const values = dates.map((_, index) => first + index);
  return {
    variableId: 1,
    dates: Float64Array.from(dates),
    values: Float64Array.from(values),
    versionTimestamps: new Float64Array(dates.length),
    versionTagIds: Int32Array.from(values, (value) => value % 3),
    tagSetIds: Int32Array.from(values, (value) => value % 2),
  };
}

const columnsOf = (chunks: readonly PointChunk[]) => {
  const columns = new InputColumns();
  for (const part of chunks) columns.add(part);
  return columns;
};

test('input columns: Version and Tags are dictionary-coded; a missing Version is "", and missing Tags are {} (§2)', () => {
  const { versions, tags } = columnsOf([chunk([0, 1e6, 2e6, 3e6])]).finish(LABELS);
  expect(textsOf(versions)).toEqual(['', 'v1', 'v2', '']);
  expect(textsOf(tags)).toEqual(['{}', '{"t":"1"}', '{}', '{"t":"1"}']);
  expect([versions.texts.length, tags.texts.length]).toEqual([3, 2]);
});

test('input columns: a row of an aggregate has Version "" and Tags {} (R-H2)', () => {
  const columns = new InputColumns();
  columns.add({ variableId: 1, aggregate: 'sum', dates: Float64Array.of(0), values: Float64Array.of(Number.NaN) });
  const series = columns.finish(LABELS);
  expect(series.values).toEqual(Float64Array.of(Number.NaN));
  expect([textsOf(series.versions), textsOf(series.tags)]).toEqual([[''], ['{}']]);
});

test('input columns: if several points lie within the same second, only the last of them is kept (R-H2)', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5_000_000), { maxLength: 40 }), fc.nat(40), (unsorted, cut) => {
      const dates = [...new Set(unsorted)].sort((a, b) => a - b);
      const chunks = [chunk(dates.slice(0, cut)), chunk(dates.slice(cut), Math.min(cut, dates.length))];
      const series = columnsOf(chunks).finish(LABELS);
      const lasts = new Map(dates.map((date, index) => [Math.floor(date / 1e6), index]));
      expect(Array.from(series.dates)).toEqual([...lasts.keys()]);
      expect(Array.from(series.values)).toEqual([...lasts.values()]);
      expect(textsOf(series.versions)).toEqual([...lasts.values()].map((index) => LABELS.versionTag(index % 3) ?? ''));
    }),
  );
});

describe('input columns: dates at the limit of R integers', () => {
  const last = (2 ** 31 - 1) * 1e6;

  test('the last second that fits an R integer is kept as an integer (R-H2)', () => {
    expect(columnsOf([chunk([last])]).finish(LABELS).dates).toEqual(Int32Array.of(2 ** 31 - 1));
  });

  test('a date outside the range of R integers turns all dates of the column into doubles, including those of earlier chunks (R-H2)', () => {
    const later = columnsOf([chunk([last]), chunk([last + 1e6, last + 1.5e6])]).finish(LABELS);
    expect(later.dates).toEqual(Float64Array.of(2 ** 31 - 1, 2 ** 31));
    expect(columnsOf([chunk([-last - 1e6])]).finish(LABELS).dates).toEqual(Float64Array.of(-(2 ** 31)));
  });
});
