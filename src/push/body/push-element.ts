/** Push elements as they are understood (§2, R-D2, R-D3). */

import type { Labels } from '../../points/label-rules.ts';

/** What may identify a target. Given members must all agree. */
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

/** The elements of a push, their readings as columns of one length: those of the first element, of the second, … */
export interface PushContents {
  readonly targets: readonly TargetIdentifiers[];
  /** Of each element; they add up to the length of the columns. */
  readonly readingCounts: readonly number[];
  /** Microseconds since 1970-01-01: UTC, or of the local clock where `isLocal`. */
  readonly dates: Float64Array;
  /** 1: the date had no zone; undefined when all had one. */
  readonly isLocal: Uint8Array | undefined;
  readonly values: Float64Array;
  /** Place in `labelTable` of each reading's VersionTag and tags. */
  readonly labels: Int32Array;
  /** Each different pair once. */
  readonly labelTable: readonly Labels[];
}

export interface PushLimits {
  readonly maxElements: number;
  readonly maxReadings: number;
}

/** Limits of the texts of a push, in UTF-16 units, and of its tags. */
export const MAX_TEXT = 1000;
export const MAX_VERSION = 200;
export const MAX_TAGS = 50;
export const MAX_ID = 2_147_483_647;

/** Problems a refusal names (R-D1). */
export const MAX_DETAILS = 100;

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

/** §2: these come from the token, never from the body. */
export const FORBIDDEN = ['accountId', 'userId', 'role'] as const;
