/** The answer to a push (R-D1, R-D4). */
import type { Context } from 'hono';
import { setDateZones } from '../platform/dates/date-zone-header.ts';

export interface PushAnswer {
  /** Label of the operation; the API calls it `operationId`. */
  readonly label: string;
  readonly accepted: { readonly elements: number; readonly readings: number };
  readonly rejected: readonly Rejection[];
  /**
   * Warnings about the first 100 skipped or ambiguous local dates, or one warning that no element was accepted. A
   * re-sent push may also get warnings about readings whose dates were already rolled up. These readings were not
   * written.
   */
  readonly warnings: readonly PushWarning[];
  /**
   * Time zones that were applied to dates without an offset, at most 20. The response header `Time-Zone` lists these
   * zones (R-A11).
   */
  readonly timeZones: readonly string[];
}

/** A push element that was rejected because no variable, or more than one, matches it. */
export interface Rejection {
  /** Index of the element in the push, from 0. For a replay: index among the replayed elements. */
  readonly index: number;
  readonly code: 'target_not_found' | 'target_ambiguous';
  readonly message: string;
}

/**
 * Maximum number of warnings about local dates in a push. Warnings about rolled-up dates do not count towards it: each
 * write of the push can add at most MAX_WARNINGS of those.
 */
export const MAX_WARNINGS = 100;

export interface PushWarning {
  readonly path: string;
  readonly code: 'ambiguous_local_date' | 'skipped_local_date' | 'nothing_accepted' | 'rolled_up_date';
  readonly message: string;
}

/** @returns the answer to a push or a replay (R-D1). */
export function toAnswer(operation: AnsweredOperation): PushAnswer {
  const { label, acceptedElements, acceptedReadings, rejected, warnings, timeZones } = operation;
  const accepted = { elements: acceptedElements, readings: acceptedReadings };
  return { label, accepted, rejected, warnings, timeZones };
}

interface AnsweredOperation extends Omit<PushAnswer, 'accepted'> {
  readonly acceptedElements: number;
  readonly acceptedReadings: number;
}

/**
 * Answers a push or a replay with the body of R-D1. Sets the header `Time-Zone` unless `answer.timeZones` is empty
 * (R-A11).
 */
export function sendAnswer(c: Context, answer: PushAnswer) {
  setDateZones(c, answer.timeZones);
  return c.json(toBody(answer));
}

/** @returns the body of the HTTP response to a push (R-D1). */
export function toBody({ label, accepted, rejected, warnings }: PushAnswer) {
  return { operationId: label, accepted, rejected, ...(warnings.length > 0 && { warnings }) };
}
