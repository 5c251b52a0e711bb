/**
 * The words of this room. A point is one value of a variable at a date; a versioned variable keeps its superseded
 * values too. Instants are microseconds since 1970-01-01 UTC in a JavaScript number (exact until the year 2255).
 */

import type { Micros } from '../platform/dates/instant-rules.ts';

export type { Micros };

/** One reading on its way into the store. Ids 0 mean: no VersionTag, no tags. */
export interface PointEntry {
  readonly variableId: number;
  readonly dateMicros: Micros;
  readonly value: number;
  readonly versionTagId: number;
  readonly tagSetId: number;
}

/** What a committed write changed, per variable. `to` is inclusive. */
export interface WrittenRange {
  readonly variableId: number;
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
  readonly count: number;
}

/** A length of time with civil parts: months and days follow a calendar, microseconds the clock. None is negative. */
export interface CivilDuration {
  readonly months: number;
  readonly days: number;
  readonly micros: Micros;
}

/**
 * Which versions of each date are wanted (R-G2). Every member narrows the versions that count; of those that are left
 * the one with the greatest VersionTimestamp is taken, or all of them. Without any member, the latest.
 */
export interface VersionChoice {
  /** Only versions known at this instant (R-F5). */
  readonly asOfMicros?: Micros;
  /** Only versions known at least this long before the date they are for, counted back on the zone's calendar. */
  readonly horizon?: { readonly duration: CivilDuration; readonly timeZoneId: string };
  /** Only versions under one of these VersionTags. */
  readonly versionTags?: readonly string[];
  /** Only versions that carry all of these tags. */
  readonly tags?: readonly (readonly [key: string, value: string])[];
  /** All versions left, not only the latest of each date. */
  readonly isEvery?: boolean;
}

/**
 * `value * factor / divisor + shift`: a conversion of units (R-C8). One of factor and divisor is 1: a thousandth is no
 * binary number, so 9 Wh divided by 1000 is 0.009 kWh, and multiplied by 0.001 is not.
 */
export interface LinearScale {
  readonly factor: number;
  readonly divisor: number;
  readonly shift: number;
}

export interface PointSelection {
  readonly variableIds: readonly number[];
  readonly fromMicros?: Micros;
  /** Exclusive, unless `isToIncluded`. */
  readonly toMicros?: Micros;
  readonly isToIncluded?: boolean;
  readonly version: VersionChoice;
  readonly order: 'ASC' | 'DESC';
  /** Conversion of the values of a variable; of those not in it, values stay as stored. */
  readonly scales?: ReadonlyMap<number, LinearScale>;
  /** Paging within each variable (R-G1). */
  readonly limit?: number;
  readonly offset?: number;
}

/** Points of one variable as columns of one length. Labels are ids of the dictionary, see `Dictionary.labelsOf`; 0: none. */
export interface PointChunk {
  readonly variableId: number;
  readonly dates: Float64Array;
  readonly values: Float64Array;
  readonly versionTimestamps: Float64Array;
  readonly versionTagIds: Int32Array;
  readonly tagSetIds: Int32Array;
}
