/**
 * Defines plain pushes: pushes of moderate size in the standard format, with at least one reading, the default
 * time-out, a generated label, and no rejected elements, warnings or repeated readings. Plain pushes of one user in one
 * batch share a row of `push_operation` (migration 0018).
 */
import { TUPLE_BYTES } from '../../points/copy-codec.ts';
import { DEFAULT_TIMEOUT_SEC } from '../push-query.ts';
import type { NewOperation } from '../store/new-operation.ts';
import { makeSharedLabel } from '../store/operation-label.ts';
import type { PlainCandidate, PlainPush } from './fast-paths.ts';

const MAX_BYTES = 1 << 16;

/** @returns undefined when the push is not plain; such a push needs its own row of `push_operation`. */
export function toPlainPush(push: PlainCandidate): PlainPush | undefined {
  const { userId, requestId, acceptedElements, acceptedReadings, tuples, variableIds } = push;
  const isPlain =
    push.isLabelOurs &&
    push.timeoutSec === DEFAULT_TIMEOUT_SEC &&
    push.mapperId === null &&
    push.rejected.length === 0 &&
    push.warnings.length === 0 &&
    tuples.length > 0 &&
    tuples.length <= MAX_BYTES &&
    tuples.length === acceptedReadings * TUPLE_BYTES;
  if (!isPlain) return undefined;
  return { userId, requestId, elements: acceptedElements, readings: acceptedReadings, tuples, variableIds };
}

/**
 * Combines plain pushes of one user into one operation. Each push gets the label `memberLabel(label, n)`, with the
 * label of the operation and the position n of the push, counted from 0.
 * @param pushes at least one push.
 */
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
    variableIds: first && !isShared ? first.variableIds : pushes.flatMap(({ variableIds }) => variableIds),
    ...(isShared && { members: { elements, readings, requestIds: pushes.map(({ requestId }) => requestId) } }),
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
