/**
 * Replays rejected elements after their targets were created, and queues the batches of Failed operations again (R-D8).
 * A replay is a new operation with the label of the replayed operations. The replayed elements move to the new
 * operation, whether they are accepted or rejected again. A replay that accepts no element leaves all elements where
 * they are.
 */
import { withTransaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { AcceptServices } from '../accept/accept-push.ts';
import type { Admission } from '../accept/admission.ts';
import { type EncodedOperation, encodeOperation, type PushContext } from '../accept/encode-operation.ts';
import type { PushLimits } from '../body/push-element.ts';
import { type PushAnswer, toAnswer } from '../push-answer.ts';
import { type RetriedBatches, retryBatches } from '../store/failed-batches.ts';
import { deleteRejections, findReplayable, type KeptRejection } from '../store/find-rejections.ts';
import { storeBatches } from '../store/store-batches.ts';

export interface ReplayServices extends Omit<AcceptServices, 'store' | 'fastPaths'> {
  readonly admission: Admission;
  /** Wakes the ingester for an account. */
  readonly wake: (accountId: number) => void;
  readonly limits: Pick<PushLimits, 'maxElements' | 'maxReadings'> & { readonly maxBodyBytes: number };
}

/**
 * Requeues the batches of operations whose state is Failed. Also replays the oldest rejected elements, as many as fit
 * into one push.
 * @returns the answer of a push; each `index` is the position among the replayed elements, from 0.
 * @throws {DomainError} conflict when some of the elements were replayed or deleted meanwhile; also invalid_input,
 *   body_too_large and dependency_unavailable.
 */
export type Replay = (context: PushContext, operationIds: readonly number[]) => Promise<PushAnswer>;

/**
 * Creates the replay of rejected elements (R-D8).
 * @param services the services that also accept pushes. Their `readers` apply the limits of elements and readings.
 */
export function createReplay(services: ReplayServices): Replay {
  const { database, readers, limits } = services;
  return async (context, operationIds) => {
    const retried = await retryBatches(database, { operationIds });
    if (retried.batches > 0) services.wake(context.caller.accountId);
    const kept = await findReplayable(database, operationIds, { ...limits, maxBytes: limits.maxBodyBytes - 2 });
    const push = await readers.read(Buffer.from(`[${kept.map(({ element }) => element).join()}]`), false);
    try {
      const { targets } = await services.targets.resolve(context.caller, push.summary.targets, true);
      const encoded = await encodeOperation(services.dictionary, context, push, targets);
      if (encoded.acceptedElements > 0) await store(services, context, kept, encoded);
      return withRetried(toAnswer(encoded), retried);
    } finally {
      push.release();
    }
  };
}

/**
 * Adds the elements and readings of re-queued batches to the counts of accepted elements and readings in the answer.
 */
function withRetried(answer: PushAnswer, { elements, readings }: RetriedBatches): PushAnswer {
  const { accepted } = answer;
  return { ...answer, accepted: { elements: accepted.elements + elements, readings: accepted.readings + readings } };
}

async function store(
  { database, admission, wake }: ReplayServices,
  { caller }: PushContext,
  kept: readonly KeptRejection[],
  encoded: EncodedOperation,
): Promise<void> {
  const operation = { ...encoded, isReplay: true };
  const batch = { accountId: caller.accountId, structureVersion: null, isQueued: true, operations: [operation] };
  await withTransaction(database, async (transaction) => {
    if ((await deleteRejections(transaction, kept)) < kept.length) {
      throw new DomainError(
        'conflict',
        'some of the rejected elements were replayed or deleted meanwhile; list the rejected elements again',
      );
    }
    await storeBatches(transaction, [batch]);
  });
  admission.noteQueued(caller.accountId, operation.tuples.length);
  wake(caller.accountId);
}
