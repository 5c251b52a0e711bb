/** Summarizes the differences between two versions of a variable, date by date (R-G6). */

export interface CompareSummary {
  /** Number of dates that are in at least one of the two versions. */
  readonly points: number;
  /** Number of dates that are in both versions, but with a different value in each. */
  readonly changed: number;
  /** Number of dates that only the version on the right side has. */
  readonly added: number;
  /** Number of dates that only the version on the left side has. */
  readonly removed: number;
  /** Mean absolute difference of the values at the dates that are in both versions; null when no date is in both. */
  readonly meanAbsoluteDifference: number | null;
}

export interface CompareCounter {
  /**
   * Counts the rows of a batch. `left` and `right` hold the values of the two versions at the same dates, so they have
   * equal length; NaN means that the version has no value at the date.
   */
  add(left: Float64Array, right: Float64Array): void;
  summary(): CompareSummary;
}

/** @returns a counter for the rows of one comparison (R-G6). */
export function compareCounter(): CompareCounter {
  let [points, changed, added, removed, absoluteSum] = [0, 0, 0, 0, 0];
  return {
    add: (left, right) => {
      points += left.length;
      for (let index = 0; index < left.length; index++) {
        const difference = (right[index] ?? Number.NaN) - (left[index] ?? Number.NaN);
        if (!Number.isNaN(difference)) {
          if (difference !== 0) changed++;
          absoluteSum += Math.abs(difference);
        } else if (Number.isNaN(left[index])) added++;
        else removed++;
      }
    },
    summary: () => {
      const common = points - added - removed;
      return { points, changed, added, removed, meanAbsoluteDifference: common === 0 ? null : absoluteSum / common };
    },
  };
}
