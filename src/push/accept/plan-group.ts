/** Arranges the pushes of a group as batches, and records which pushes belong to which operation. */
import { TUPLE_BYTES } from '../../points/copy-codec.ts';
import type { PlainPush } from '../fast-paths/fast-paths.ts';
import type { NewBatch, NewOperation } from '../store/new-operation.ts';

/** A push whose targets are resolved and whose readings are encoded. */
export interface Submission {
  readonly accountId: number;
  /** Version of the structure that the cached targets come from; null when the targets were looked up just now. */
  readonly structureVersion: number | null;
  readonly push: NewOperation | PlainPush;
}

type Join = (pushes: readonly PlainPush[]) => NewOperation;

export interface GroupBatch<Waiting extends Submission> {
  readonly batch: NewBatch;
  /** The pushes of each operation in `batch.operations`: plain pushes of one user, or one push that is not plain. */
  readonly pushesOf: readonly (readonly Waiting[])[];
}

// A larger push gets its own batch, so that the small pushes of the group need not wait while the larger push waits for
// an earlier write of its variables (R-D6).
const MAX_SHARED_BYTES = 2000 * TUPLE_BYTES;

/**
 * Creates one batch per account and structure version. The plain pushes of a user in a batch become one operation.
 * However, a large push gets its own batch. A push that may be a re-send gets its own batch too: the readings of a
 * re-send are not stored (R-D7), and a batch is stored as a whole.
 * @param join combines plain pushes of one user into one operation.
 */
export function toBatches<Waiting extends Submission>(
  group: readonly Waiting[],
  join: Join,
): readonly GroupBatch<Waiting>[] {
  const batches = Map.groupBy(group.entries(), ([index, { accountId, structureVersion, push }]) => {
    const isAlone = (isOperation(push) && push.resendKey !== null) || push.tuples.length > MAX_SHARED_BYTES;
    return `${accountId}/${structureVersion}/${isAlone ? index : ''}`;
  });
  return [...batches.values()].map((entries) => {
    const parts = Map.groupBy(entries, ([index, { push }]) => (isOperation(push) ? `${index}` : `of ${push.userId}`));
    const pushesOf = [...parts.values()].map((part) => part.map(([, submission]) => submission));
    return toBatch(pushesOf, join);
  });
}

function toBatch<Waiting extends Submission>(
  pushesOf: readonly (readonly Waiting[])[],
  join: Join,
): GroupBatch<Waiting> {
  const { accountId = 0, structureVersion = null } = pushesOf[0]?.[0] ?? {};
  const operations = pushesOf.map((pushes) => toOperation(pushes, join));
  return { batch: { accountId, structureVersion, isQueued: true, operations }, pushesOf };
}

function toOperation(pushes: readonly Submission[], join: Join): NewOperation {
  const plain: PlainPush[] = [];
  for (const { push } of pushes) {
    if (isOperation(push)) return push;
    plain.push(push);
  }
  return join(plain);
}

function isOperation(push: NewOperation | PlainPush): push is NewOperation {
  return 'label' in push;
}
