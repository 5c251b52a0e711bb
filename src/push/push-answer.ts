/** What a push is answered with, and what its operation keeps of it (R-D1, R-D4). */

export interface PushAnswer {
  /** operationId as the client knows it. */
  readonly label: string;
  readonly accepted: { readonly elements: number; readonly readings: number };
  readonly rejected: readonly Rejection[];
  /** The first 100 dates that met a change of the clock. */
  readonly warnings: readonly PushWarning[];
}

/** An element that could not be mapped. */
export interface Rejection {
  /** Place of the element in the body. */
  readonly index: number;
  readonly code: 'target_not_found' | 'target_ambiguous';
  readonly message: string;
}

export interface PushWarning {
  readonly path: string;
  readonly code: 'ambiguous_local_date' | 'skipped_local_date';
  readonly message: string;
}

/** What was stored, as the client is told. */
export function toAnswer(operation: AnsweredOperation): PushAnswer {
  const { label, acceptedElements, acceptedReadings, rejected, warnings } = operation;
  return { label, accepted: { elements: acceptedElements, readings: acceptedReadings }, rejected, warnings };
}

interface AnsweredOperation extends Omit<PushAnswer, 'accepted'> {
  readonly acceptedElements: number;
  readonly acceptedReadings: number;
}

/** The body of the answer (R-D1). */
export function toBody({ label, accepted, rejected, warnings }: PushAnswer) {
  return { operationId: label, accepted, rejected, ...(warnings.length > 0 && { warnings }) };
}
