/**
 * Writes a large push of new dates in one transaction, so its readings are stored once instead of twice (R-D1). Pushes
 * must take effect in the order of their answers (R-D6). So the push takes the ordinary path if a waiting batch
 * contains a variable of the push.
 */
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { isDependencyError } from '../../platform/database/dependency-error.ts';
import type { Log } from '../../platform/log.ts';
import { announcePoints } from '../../points/announce-points.ts';
import { TUPLE_BYTES } from '../../points/copy-codec.ts';
import { recordOrigin } from '../../points/origins/record-origin.ts';
import { writePoints } from '../../points/write/write-points.ts';
import type { EncodedOperation } from '../accept/encode-operation.ts';
import { openSemaphore } from '../semaphore.ts';
import type { StoreOutcome } from '../store/new-operation.ts';
import { mustQueue, takeTurn } from '../store/queue-state.ts';
import { storeBatches } from '../store/store-batches.ts';
import { completeOperation } from '../store/waiting-batches.ts';
import { warnOperation } from '../store/warn-of-refused.ts';
import type { DirectSubmission, FastPaths } from './fast-paths.ts';

// A push with fewer than MIN_READINGS readings is stored faster by group commit. A direct write of more than
// MAX_READINGS readings could exceed the ten seconds that shipped clients wait.
const MIN_READINGS = 1000;
const MAX_READINGS = 250_000;
const LOCK_TIMEOUT_MS = 1000;
const MAX_WAIT_MS = 1000;

/**
 * Opens the direct writer (R-D1, R-D6).
 * @param concurrency maximum number of concurrent writes; each takes a database connection.
 */
export function openDirectWriter(database: Database, concurrency: number, log: Log): FastPaths['tryWrite'] {
  const slots = openSemaphore(concurrency, MAX_WAIT_MS);
  return async (submission) => {
    const { tuples, firstDates } = submission.operation;
    const count = tuples.length / TUPLE_BYTES;
    if (!firstDates || count < MIN_READINGS || count > MAX_READINGS) return undefined;
    if (!(await slots.enter())) return undefined;
    try {
      if (await mustQueue(database, submission.accountId, firstDates)) return undefined;
      return await withTransaction(database, (transaction) => write(transaction, submission));
    } catch (error) {
      if (isDependencyError(error)) throw error;
      const { accountId, operation } = submission;
      const fields = { err: error, accountId, requestId: operation.requestId };
      if (!(error instanceof OvertakenError))
        log.warn(fields, 'a push could not be written directly; it takes the ordinary path through the ingester');
      return undefined;
    } finally {
      slots.leave();
    }
  };
}

/**
 * Thrown when another push that contains a variable of this push was accepted during the write. The other push was
 * answered first, so it must take effect first.
 */
class OvertakenError extends Error {}

async function write(transaction: Transaction, { accountId, ...submission }: DirectSubmission): Promise<StoreOutcome> {
  const { operation, structureVersion } = submission;
  await transaction.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  const batch = { accountId, structureVersion, isQueued: false, operations: [operation] };
  const [[outcome] = []] = await storeBatches(transaction, [batch]);
  if (outcome?.kind !== 'stored') return outcome ?? { kind: 'stale' };
  const tuples = spare(operation);
  const { ranges, refused, stamps } = await writePoints(transaction, [tuples]);
  for (const offsets of refused.values()) await warnOperation(transaction, outcome.id, tuples, offsets);
  await announcePoints(transaction, accountId, ranges, { requestId: operation.requestId });
  await recordOrigin(transaction, accountId, stamps, { operationId: outcome.id });
  await completeOperation(transaction, outcome.id, operation.variableIds);
  if (await takeTurn(transaction, accountId, operation.userId, operation.variableIds)) throw new OvertakenError();
  return outcome;
}

/**
 * Copies the tuples if the push has VersionTags: the writer can clear the VersionTags in the buffers that it is given,
 * but the ordinary path may still need the original tuples.
 */
function spare({ tuples, hasVersionTags }: EncodedOperation): Buffer {
  return hasVersionTags ? Buffer.from(tuples) : tuples;
}
