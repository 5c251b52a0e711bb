import { describe, expect, test } from 'vitest';
import { compareCounter } from '../../../src/reading/compare/compare-rules.ts';

const NONE = Number.NaN;

function summaryOf(...batches: readonly (readonly [left: readonly number[], right: readonly number[]])[]) {
  const counter = compareCounter();
  for (const [left, right] of batches) counter.add(Float64Array.from(left), Float64Array.from(right));
  return counter.summary();
}

describe('reading: the summary of two versions (R-G6)', () => {
  test('has the numbers of changed, added and removed dates, and the mean of the absolute differences', () => {
    expect(
      summaryOf([
        [1, 2, 3, NONE, 5, NONE],
        [1, 5, 2, 4, NONE, 6],
      ]),
    ).toEqual({
      points: 6,
      changed: 2,
      added: 2,
      removed: 1,
      meanAbsoluteDifference: 4 / 3,
    });
  });

  test('the counts and the mean difference cover the values of all batches', () => {
    expect(
      summaryOf(
        [
          [1, NONE],
          [3, 7],
        ],
        [[], []],
        [[10], [NONE]],
        [[4], [4]],
      ),
    ).toEqual({
      points: 4,
      changed: 1,
      added: 1,
      removed: 1,
      meanAbsoluteDifference: 1,
    });
  });

  test('the mean difference is null without common dates, and 0 for equal versions', () => {
    expect(summaryOf()).toEqual({ points: 0, changed: 0, added: 0, removed: 0, meanAbsoluteDifference: null });
    expect(
      summaryOf([
        [NONE, 2],
        [1, NONE],
      ]),
    ).toMatchObject({ points: 2, meanAbsoluteDifference: null });
    expect(
      summaryOf([
        [0, -1],
        [-0, -1],
      ]),
    ).toMatchObject({ points: 2, changed: 0, meanAbsoluteDifference: 0 });
  });
});
