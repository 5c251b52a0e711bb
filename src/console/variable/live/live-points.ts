/**
 * Keeps the points that arrive while a chart is open. The chart draws these points over the points read from the
 * server. When too many points have arrived, the chart reads its points again. During this read, the arrived points
 * form two generations:
 * - Older generation: points that arrived before this read. After the read, these points are dropped.
 * - Newer generation: points that arrive after the read has begun.
 */

import type { Points } from '../chart-rules.ts';
import type { LiveColumns } from './follow.ts';

/** If the newer generation has more points than this, the chart reads its points from the server again. */
export const MAX_POINTS = 5000;
/** Maximum number of VersionTimestamps of arrived points that are kept per variable, for the version slider. */
const MAX_INSTANTS = 300;

/** Values by variable, then by date in Unix seconds. */
type Overlay = Map<number, Map<number, number>>;

export class LivePoints {
  #older: Overlay = new Map();
  #newer: Overlay = new Map();
  #count = 0;
  readonly #last = new Map<number, number>();
  readonly #instants = new Map<number, readonly string[]>();

  /** Adds points. Add them in commit order: for each date, the value that is added last wins. */
  add(columns: readonly LiveColumns[]): void {
    for (const { variableId, date, rawValue, versionTimestamp } of columns) {
      const values = this.#newer.get(variableId) ?? new Map<number, number>();
      this.#newer.set(variableId, values);
      const before = values.size;
      let last = this.#last.get(variableId) ?? Number.NEGATIVE_INFINITY;
      date.forEach((text, row) => {
        const seconds = Date.parse(text) / 1000;
        values.set(seconds, rawValue[row] ?? Number.NaN);
        last = Math.max(last, seconds);
      });
      this.#count += values.size - before;
      this.#last.set(variableId, last);
      const known = [...(this.#instants.get(variableId) ?? []), ...versionTimestamp];
      this.#instants.set(variableId, [...new Set(known)].slice(-MAX_INSTANTS));
    }
  }

  /** @returns true when the newer generation is full. The chart should then read its points again. */
  isFull(): boolean {
    return this.#count > MAX_POINTS;
  }

  /**
   * Replaces the older generation by the newer one, and starts an empty newer generation. Call `turn` before the chart
   * reads its points again.
   * @returns a function that drops the older generation. Call the returned function after the read.
   */
  turn(): () => void {
    this.#older = this.#newer;
    this.#newer = new Map();
    this.#count = 0;
    return () => {
      this.#older = new Map();
    };
  }

  /** @returns the latest date of the points that arrived, in Unix seconds; undefined before the first point. */
  lastOf(variableId: number): number | undefined {
    return this.#last.get(variableId);
  }

  /** @returns at most `MAX_INSTANTS` VersionTimestamps of the points that arrived last, as ISO 8601. */
  instantsOf(variableId: number): readonly string[] {
    return this.#instants.get(variableId) ?? [];
  }

  /** @returns the number of points in both generations. */
  size(): number {
    return [...this.#older.values(), ...this.#newer.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Merges `points` with the kept points of the variable whose dates are in the range from `from` (inclusive) to `to`
   * (exclusive), in Unix seconds. For a date in both, the value of the kept point wins.
   */
  over(variableId: number, points: Points, from: number, to: number): Points {
    const came = new Map([...(this.#older.get(variableId) ?? []), ...(this.#newer.get(variableId) ?? [])]);
    const dates = [...came.keys()].filter((seconds) => seconds >= from && seconds < to).sort((a, b) => a - b);
    return dates.length === 0 ? points : merge(points, dates, came);
  }
}

function merge({ seconds, values }: Points, dates: readonly number[], came: ReadonlyMap<number, number>): Points {
  const mergedSeconds = new Float64Array(seconds.length + dates.length);
  const mergedValues = new Float64Array(seconds.length + dates.length);
  let [read, live, end] = [0, 0, 0];
  while (read < seconds.length || live < dates.length) {
    const [a = Number.POSITIVE_INFINITY, b = Number.POSITIVE_INFINITY] = [seconds[read], dates[live]];
    mergedSeconds[end] = Math.min(a, b);
    mergedValues[end] = b <= a ? (came.get(b) ?? Number.NaN) : (values[read] ?? Number.NaN);
    if (a <= b) read += 1;
    if (b <= a) live += 1;
    end += 1;
  }
  return { seconds: mergedSeconds.subarray(0, end), values: mergedValues.subarray(0, end) };
}
