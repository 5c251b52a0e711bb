/**
 * The words of this room. A point is one value of a variable at a date; a versioned variable keeps its superseded
 * values too. Instants are microseconds since 1970-01-01 UTC in a JavaScript number (exact until the year 2255).
 */

/** Microseconds since the Unix epoch, UTC. */
export type Micros = number;

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

/** Which version of each date is wanted; without any member, the latest (R-G2). */
export interface VersionChoice {
  /** The state known at this instant: per date the greatest VersionTimestamp not after it (R-F5). */
  readonly asOfMicros?: Micros;
  /** Only versions under one of these VersionTags. */
  readonly versionTags?: readonly string[];
}

export interface PointSelection {
  readonly variableIds: readonly number[];
  readonly fromMicros?: Micros;
  /** Exclusive, unless `isToIncluded`. */
  readonly toMicros?: Micros;
  readonly isToIncluded?: boolean;
  readonly version: VersionChoice;
  readonly order: 'ASC' | 'DESC';
  /** Paging within each variable (R-G1). */
  readonly limit?: number;
  readonly offset?: number;
}

/** Points of one variable as columns of one length. */
export interface PointChunk {
  readonly variableId: number;
  readonly dates: Float64Array;
  readonly values: Float64Array;
  readonly versionTimestamps: Float64Array;
  /** VersionTag of each point, null when none. */
  readonly versionTags: readonly (string | null)[];
  /** Tags of each point as JSON text of an object of strings, null when none. */
  readonly tags: readonly (string | null)[];
}
