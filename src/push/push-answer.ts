/** The answer of a push and the parts of it that its operation keeps (R-D1, R-D4). */

export interface PushAnswer {
  /** `operationId` of the API. */
  readonly label: string;
  readonly accepted: { readonly elements: number; readonly readings: number };
  readonly rejected: readonly Rejection[];
  /** The first 100 local dates that a clock change makes ambiguous or skips; or one warning that nothing was accepted. */
  readonly warnings: readonly PushWarning[];
}

/** An element without a target. */
export interface Rejection {
  /** Index of the element in the body. */
  readonly index: number;
  readonly code: 'target_not_found' | 'target_ambiguous';
  readonly message: string;
}

export interface PushWarning {
  readonly path: string;
  readonly code: 'ambiguous_local_date' | 'skipped_local_date' | 'nothing_accepted';
  readonly message: string;
}

/** @returns the answer for a stored operation (R-D1). */
export function toAnswer(operation: AnsweredOperation): PushAnswer {
  const { label, acceptedElements, acceptedReadings, rejected, warnings } = operation;
  return { label, accepted: { elements: acceptedElements, readings: acceptedReadings }, rejected, warnings };
}

interface AnsweredOperation extends Omit<PushAnswer, 'accepted'> {
  readonly acceptedElements: number;
  readonly acceptedReadings: number;
}

/** @returns the response body (R-D1). */
export function toBody({ label, accepted, rejected, warnings }: PushAnswer) {
  return { operationId: label, accepted, rejected, ...(warnings.length > 0 && { warnings }) };
}
