/**
 * Plain pushes: no label of the client's, nothing rejected, nothing warned of, nothing repeated, of moderate size. All there
 * is to keep of one is who pushed how much, so those of a user that are stored together share a row (migration 0018).
 */
import { TUPLE_BYTES } from '../../points/copy-codec.ts';
import { DEFAULT_TIMEOUT_SEC } from '../push-query.ts';
import type { NewOperation } from './new-operation.ts';
import { makeSharedLabel } from './operation-label.ts';

export interface PlainPush {
  readonly userId: string;
  /** null: its label will be its request id. */
  readonly requestId: string | null;
  readonly elements: number;
  readonly readings: number;
  /** COPY tuples, one for each reading. */
  readonly tuples: Buffer;
}

/** One push, its targets resolved and its readings encoded: an operation, or what may become a part of one. */
export interface Submission {
  readonly accountId: number;
  readonly structureVersion: number | null;
  readonly push: NewOperation | PlainPush;
}

const MAX_BYTES = 1 << 16;

/** @returns undefined where more has to be kept of it. */
export function toPlainPush(operation: NewOperation, isLabelOurs: boolean): PlainPush | undefined {
  const { userId, requestId, acceptedElements, acceptedReadings, rejected, warnings, tuples } = operation;
  const isPlain =
    isLabelOurs &&
    operation.timeoutSec === DEFAULT_TIMEOUT_SEC &&
    operation.mapperId === null &&
    rejected.length === 0 &&
    warnings.length === 0 &&
    tuples.length > 0 &&
    tuples.length <= MAX_BYTES &&
    tuples.length === acceptedReadings * TUPLE_BYTES;
  return isPlain ? { userId, requestId, elements: acceptedElements, readings: acceptedReadings, tuples } : undefined;
}

/** The one operation of pushes of one user; that of the n-th is found under `memberLabel(label, n)`. At least one. */
export function toSharedOperation(pushes: readonly PlainPush[], nowMillis: number): NewOperation {
  const [first] = pushes;
  const label = makeSharedLabel(nowMillis);
  const elements = pushes.map((push) => push.elements);
  const readings = pushes.map((push) => push.readings);
  const isShared = pushes.length > 1;
  return {
    ...{ userId: first?.userId ?? '', label, requestId: (isShared ? null : first?.requestId) ?? label },
    ...{ acceptedElements: sum(elements), acceptedReadings: sum(readings), timeoutSec: DEFAULT_TIMEOUT_SEC },
    ...{ rejected: [], rejectedElements: [], warnings: [], resendKey: null, mapperId: null, isReplay: false },
    tuples: first && !isShared ? first.tuples : Buffer.concat(pushes.map(({ tuples }) => tuples)),
    ...(isShared && { members: { elements, readings, requestIds: pushes.map(({ requestId }) => requestId) } }),
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
