/** What arrived together → the batches it is stored as, and whose answers hang on which of their operations. */

import type { NewBatch, NewOperation } from '../store/new-operation.ts';
import { type PlainPush, type Submission, toSharedOperation } from '../store/plain-push.ts';

export interface GroupBatch<Waiting extends Submission> {
  readonly batch: NewBatch;
  /** Of each of its operations the pushes that share it, in order; of one that is not shared, one. */
  readonly pushesOf: readonly (readonly Waiting[])[];
}

/**
 * One batch per account and version of its structure; in it one operation for all plain pushes of a user. A push that may
 * turn out to be sent again is a batch of its own: its readings must be left out then.
 */
export function toBatches<Waiting extends Submission>(
  group: readonly Waiting[],
  nowMillis: number,
): readonly GroupBatch<Waiting>[] {
  const batches = new Map<string, Map<string, Waiting[]>>();
  for (const [place, one] of group.entries()) {
    const { accountId, structureVersion, push } = one;
    const isAlone = isOperation(push) && push.resendKey !== null;
    const parts = getOrAdd(batches, `${accountId}/${structureVersion}/${isAlone ? place : ''}`, newMap<Waiting[]>);
    getOrAdd(parts, isOperation(push) ? `${place}` : `of ${push.userId}`, newList<Waiting>).push(one);
  }
  return [...batches.values()].map((parts) => toBatch([...parts.values()], nowMillis));
}

function toBatch<Waiting extends Submission>(
  pushesOf: readonly (readonly Waiting[])[],
  nowMillis: number,
): GroupBatch<Waiting> {
  const { accountId = 0, structureVersion = null } = pushesOf[0]?.[0] ?? {};
  const operations = pushesOf.map((pushes) => toOperation(pushes, nowMillis));
  return { batch: { accountId, structureVersion, isQueued: true, operations }, pushesOf };
}

function toOperation(pushes: readonly Submission[], nowMillis: number): NewOperation {
  const plain: PlainPush[] = [];
  for (const { push } of pushes) {
    if (isOperation(push)) return push;
    plain.push(push);
  }
  return toSharedOperation(plain, nowMillis);
}

export function isOperation(push: NewOperation | PlainPush): push is NewOperation {
  return 'label' in push;
}

function getOrAdd<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

const newMap = <Value>(): Map<string, Value> => new Map();
const newList = <Item>(): Item[] => [];
