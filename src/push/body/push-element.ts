/** Parsed push elements and the limits of a push (§2, R-D2, R-D3, R-D10). */
import type { Labels } from '../../points/label-rules.ts';

/** Identifiers of a target variable. All given members must match the same variable (R-D2). */
export interface TargetIdentifiers {
  readonly variableId?: number;
  readonly sourceId?: number;
  readonly sourceSerialNumber?: string;
  readonly sourceEan?: string;
  readonly sourceName?: string;
  readonly meterNumber?: string;
  readonly mappingConfig?: string;
  readonly variableTypeId?: number;
}

/** The elements of a push. The readings of all elements are in parallel arrays, in the order of the elements. */
export interface PushContents {
  readonly targets: readonly TargetIdentifiers[];
  /** Number of readings of each element. The sum of these numbers is the length of `dates`, `values` and `labels`. */
  readonly readingCounts: readonly number[];
  /** Microseconds since 1970-01-01: on the local clock for dates whose `isLocal` is not 0, in UTC for all others. */
  readonly dates: Float64Array;
  /**
   * Clock of each element of `dates`: 0 is UTC, 1 is the local clock, `LOCAL_DAY` is a local day without a time.
   * Undefined when all dates are in UTC.
   */
  readonly isLocal: Uint8Array | undefined;
  readonly values: Float64Array;
  /** For each reading, the index in `labelTable` of its combination of VersionTag and tags. */
  readonly labels: Int32Array;
  /** Distinct combinations of VersionTag and tags. */
  readonly labelTable: readonly Labels[];
}

export interface PushLimits {
  readonly maxElements: number;
  readonly maxReadings: number;
}

export const TEXT_IDENTIFIERS = [
  'sourceSerialNumber',
  'sourceEan',
  'sourceName',
  'meterNumber',
  'mappingConfig',
] as const satisfies readonly (keyof TargetIdentifiers)[];

export const ID_IDENTIFIERS = [
  'variableId',
  'sourceId',
  'variableTypeId',
] as const satisfies readonly (keyof TargetIdentifiers)[];

/** Members that must be absent or null in an element, because the service takes their values from the token (§2). */
export const FORBIDDEN = ['accountId', 'userId', 'role'] as const;
