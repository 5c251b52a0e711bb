/** Types for storing pushes: an operation, a batch of operations, and the outcome for each push. */
import type { PushWarning, Rejection } from '../push-answer.ts';

/** An operation to store: one push, or several plain pushes (plain-push.ts) that share a row of `push_operation`. */
export interface NewOperation {
  readonly userId: string;
  /** Label of the operation; the API calls it `operationId`. */
  readonly label: string;
  readonly requestId: string;
  readonly acceptedElements: number;
  readonly acceptedReadings: number;
  readonly rejected: readonly Rejection[];
  /** The rejected elements as JSON, in the order of `rejected`. */
  readonly rejectedElements: readonly string[];
  readonly warnings: readonly PushWarning[];
  /** Seconds after which DataPushCompleted is sent even if the operation has not ended (R-D7). */
  readonly timeoutSec: number;
  /** SHA-256 over account, user, label and hash of the body. Null for a replay, or if the client gave no label. */
  readonly resendKey: Buffer | null;
  readonly mapperId: string | null;
  /** Whether the operation replays elements that were rejected before (R-D8). */
  readonly isReplay: boolean;
  /** The readings as tuples in the binary format of SQL COPY; empty when no element was accepted. */
  readonly tuples: Buffer;
  /** Ids of the variables of all accepted elements, including elements without readings; may contain duplicates. */
  readonly variableIds: readonly number[];
  /** The plain pushes that share this row; absent when the row has one push. */
  readonly members?: OperationMembers;
}

/** Arrays with one item for each push in the row, in the order in which the pushes' readings stand in `tuples`. */
export interface OperationMembers {
  readonly elements: readonly number[];
  readonly readings: readonly number[];
  /** The request id of each push; null when the label of the push is equal to the request id. */
  readonly requestIds: readonly (string | null)[];
}

export interface NewBatch {
  readonly accountId: number;
  /** Structure version for which the targets were cached; null when the targets do not come from the cache. */
  readonly structureVersion: number | null;
  /** False when the caller itself writes the points and completes the operations, in the same transaction. */
  readonly isQueued: boolean;
  readonly operations: readonly NewOperation[];
}

/**
 * `stale`: the version of the structure is no longer `structureVersion`. `resent`: a stored operation already has the
 * `resendKey` of the push. In both cases the push was not stored.
 */
export type StoreOutcome =
  | { readonly kind: 'stored'; readonly id: number }
  | { readonly kind: 'resent' }
  | { readonly kind: 'stale' };

/** A `StoreOutcome` that, when the push was stored, also has the label of the push. */
export type GroupOutcome =
  | Exclude<StoreOutcome, { readonly kind: 'stored' }>
  | { readonly kind: 'stored'; readonly id: number; readonly label: string };
