/** What is stored of pushes, and what became of that. */
import type { PushWarning, Rejection } from '../push-answer.ts';

/** What is kept of a push besides its readings. */
export interface NewOperation {
  readonly userId: string;
  /** operationId as the client knows it. */
  readonly label: string;
  readonly requestId: string;
  readonly acceptedElements: number;
  readonly acceptedReadings: number;
  readonly rejected: readonly Rejection[];
  /** The rejected elements as JSON, in the order of `rejected`. */
  readonly rejectedElements: readonly string[];
  readonly warnings: readonly PushWarning[];
  /** Seconds after which the event is sent though the operation has not ended (R-D7). */
  readonly timeoutSec: number;
  /** SHA-256 over account, user, label and body; null: the client gave no label. */
  readonly resendKey: Buffer | null;
  readonly mapperId: string | null;
  /** Elements rejected before, sent again by the service. */
  readonly isReplay: boolean;
  /** COPY tuples; none when nothing was accepted. */
  readonly tuples: Buffer;
  /** The pushes that share this row, their sums being those of the operation; absent: it is of one push. */
  readonly members?: OperationMembers;
}

/** Columns of one length, in the order of the tuples: a tuple for each reading. */
export interface OperationMembers {
  readonly elements: readonly number[];
  readonly readings: readonly number[];
  /** null: the label serves as one. */
  readonly requestIds: readonly (string | null)[];
}

export interface NewBatch {
  readonly accountId: number;
  /** Version of the structure on which its targets depend; null: they were looked up just now. */
  readonly structureVersion: number | null;
  /** false: the caller writes the readings itself, in this transaction, and ends the operations. */
  readonly isQueued: boolean;
  readonly operations: readonly NewOperation[];
}

/** `stale`: the structure has changed, nothing was stored. `resent`: the operation exists, nothing was stored. */
export type StoreOutcome =
  | { readonly kind: 'stored'; readonly id: number }
  | { readonly kind: 'resent' }
  | { readonly kind: 'stale' };
