/** The summary of two versions of a variable, date by date (R-G6). */

export interface CompareSummary {
  /** Dates that have a value in either version. */
  readonly points: number;
  /** Of those in both, how many have another value. */
  readonly changed: number;
  /** Only on the right. */
  readonly added: number;
  /** Only on the left. */
  readonly removed: number;
  /** Of the dates in both; null when there is none. */
  readonly meanAbsoluteDifference: number | null;
}

export interface CompareCounter {
  /** Two columns of one length; NaN: no value at that date. */
  add(left: Float64Array, right: Float64Array): void;
  summary(): CompareSummary;
}

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
