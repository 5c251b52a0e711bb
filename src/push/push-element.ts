/** Push elements as they are understood (§2, R-D2, R-D3). */

import type { ParsedDate } from '../points/date-rules.ts';
import type { Tags } from '../points/label-rules.ts';

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

export interface Reading {
  readonly date: ParsedDate;
  readonly value: number;
  /** Wins over the element's. */
  readonly version?: string;
  /** Added to the element's, never replacing one. */
  readonly tags?: Tags;
}

export interface PushElement {
  readonly target: TargetIdentifiers;
  readonly version?: string;
  readonly tags?: Tags;
  readonly readings: readonly Reading[];
}

export interface PushLimits {
  readonly maxElements: number;
  readonly maxReadings: number;
}
