/**
 * TypeScript types for points. A point is one value of a variable at a date; a versioned variable also keeps the
 * superseded values of a point. Instants are microseconds since 1970-01-01 UTC in a JavaScript number (exact until the
 * year 2255).
 */

import type { Micros } from '../platform/dates/instant-rules.ts';

export type { Micros };

/** One reading to be written. A `versionTagId` of 0 means no VersionTag; a `tagSetId` of 0 means no tags. */
export interface PointEntry {
  readonly variableId: number;
  readonly dateMicros: Micros;
  readonly value: number;
  readonly versionTagId: number;
  readonly tagSetId: number;
}

/** The first and the last date of one variable's points that a write or a removal changed. */
export interface WrittenRange {
  readonly variableId: number;
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
  readonly count: number;
}

/** A duration: months and days follow a calendar, microseconds follow the clock. No member is negative. */
export interface CivilDuration {
  readonly months: number;
  readonly days: number;
  readonly micros: Micros;
}

/**
 * Selects versions of each date (R-G2). A version matches when it satisfies all given conditions; without conditions,
 * every version matches. With `isEvery`, the result is every matching version of a date, otherwise only the one with
 * the greatest VersionTimestamp.
 */
export interface VersionChoice {
  /** The version must have a VersionTimestamp at or before this instant (R-F5). */
  readonly asOfMicros?: Micros;
  /**
   * The VersionTimestamp must be at least `duration` before the date of the point. Months and days follow the calendar
   * of the zone.
   */
  readonly horizon?: { readonly duration: CivilDuration; readonly timeZoneId: string };
  /** The version must have one of these VersionTags. */
  readonly versionTags?: readonly string[];
  /** The version must have all of these tags. */
  readonly tags?: readonly (readonly [key: string, value: string])[];
  /** True to select every matching version, not only the latest one of each date. */
  readonly isEvery?: boolean;
}

/**
 * Unit conversion `value * factor / divisor + shift` (R-C8). `factor` or `divisor` is 1. A divisor is needed because
 * 0.001 has no exact binary form: 9 Wh / 1000 is 0.009 kWh, but 9 Wh × 0.001 is not.
 */
export interface LinearScale {
  readonly factor: number;
  readonly divisor: number;
  readonly shift: number;
}

export interface PointSelection {
  readonly variableIds: readonly number[];
  readonly fromMicros?: Micros;
  /** End of the period, exclusive unless `isToIncluded`. */
  readonly toMicros?: Micros;
  readonly isToIncluded?: boolean;
  readonly version: VersionChoice;
  readonly order: 'ASC' | 'DESC';
  /** Unit conversion by variable id. The values of a variable that is not in this map are not converted. */
  readonly scales?: ReadonlyMap<number, LinearScale>;
  /** Maximum number of rows (points, versions or buckets) per variable (R-G1). */
  readonly limit?: number;
  readonly offset?: number;
}

/** Dates and values of points of one variable, as columns of equal length. */
export interface ValueChunk {
  readonly variableId: number;
  readonly dates: Float64Array;
  readonly values: Float64Array;
}

/**
 * Points of one variable, as columns of equal length. `Dictionary.labelsOf` finds the labels of the ids; the id 0 means
 * no label.
 */
export interface PointChunk extends ValueChunk {
  readonly versionTimestamps: Float64Array;
  readonly versionTagIds: Int32Array;
  readonly tagSetIds: Int32Array;
}
