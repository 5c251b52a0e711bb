/**
 * Turns accepted batches into points, exactly once: one transaction writes the points, deletes the batches, ends their
 * operations and appends events for the points and the operations. The transaction locks its batches, so any number of
 * transactions may write for an account at the same time; the pushes to a variable are still written in the order of
 * acceptance (R-D6). When no whole batch can be taken, the transaction writes some pushes of one waiting batch; the
 * other pushes stay in the batch. The SQL of batches and operations is in src/push/store.
 */
import { type Database, type Transaction, withTransaction } from '../platform/database/database.ts';
import { announcePoints } from '../points/announce-points.ts';
import { WRITE_TIMEOUT_MS, type WriteResult, writePoints } from '../points/write/write-points.ts';
import { recordPart, takeFreePart } from '../push/store/blocked-batches.ts';
import {
  completeOperation,
  endBatches,
  markProcessing,
  readBatchRows,
  takeBatches,
} from '../push/store/waiting-batches.ts';
import { warnOfRefused, warnOperations } from '../push/store/warn-of-refused.ts';

const MARK_AFTER_MS = 200;

/** What one transaction wrote. */
export interface Portion {
  /**
   * Request id of the earliest push in the written batches (R-A10); undefined when no batch was written completely.
   */
  readonly requestId: string | undefined;
  readonly readings: number;
  /**
   * Seconds from the acceptance of the oldest batch in this transaction until the transaction locked that batch. 0 when
   * the transaction completed no batch.
   */
  readonly waitedSec: number;
  /**
   * Number of batches written; 0 when nothing was written. A batch of which only some pushes were written counts as 1.
   */
  readonly batches: number;
  /**
   * True when this transaction wrote readings and more batches may be waiting. The caller must then queue the account
   * again.
   */
  readonly isMoreWaiting: boolean;
}

const NOTHING_TAKEN: Portion = {
  ...{ batches: 0, readings: 0, waitedSec: 0, isMoreWaiting: false },
  requestId: undefined,
};

/** Limits on the batches of one transaction. */
export interface PortionLimits {
  /** Maximum number of readings of all batches together; a batch that is written alone may have more. */
  readonly maxRows: number;
  /** True to write only small batches and leave large ones to other transactions. Default: false. */
  readonly isSmallOnly?: boolean;
}

/**
 * Writes waiting batches of an account in one transaction (R-D6).
 * @returns the number of batches written.
 */
export async function ingestAccount(database: Database, accountId: number, maxRows: number): Promise<number> {
  return (await ingestPortion(database, accountId, { maxRows })).batches;
}

/**
 * Writes waiting batches of an account in one transaction (R-D6).
 * @param onTaken called before the write with the ids of the batches; not called when a batch is written only in part.
 */
export async function ingestPortion(
  database: Database,
  accountId: number,
  { maxRows, isSmallOnly = false }: PortionLimits,
  onTaken: (batchIds: readonly number[]) => void = () => {},
): Promise<Portion> {
  return withTransaction(
    database,
    async (transaction) => {
      const taken = await takeBatches(transaction, accountId, maxRows, isSmallOnly);
      const { readings, isMoreWaiting, waitedSec } = taken;
      if (taken.ids.length === 0) return isMoreWaiting ? writeFreePart(transaction, accountId) : NOTHING_TAKEN;
      const ids = taken.ids.map(Number);
      const operationIds = taken.operationIds.map(Number);
      const requestId = taken.requestId ?? undefined;
      onTaken(ids);
      const batches = await readBatchRows(transaction, ids);
      const marking = markWhenSlow(database, operationIds, taken.takenDate ?? '');
      const written = await writeBatches(transaction, accountId, { ids, batches, requestId }).finally(() => {
        clearTimeout(marking);
      });
      await endBatches(transaction, accountId, { ids, operationIds, batches }, written);
      return { batches: ids.length, readings, waitedSec: waitedSec ?? 0, requestId, isMoreWaiting };
    },
    { statementTimeoutMs: WRITE_TIMEOUT_MS },
  );
}

/** Writes those pushes of a waiting batch that share no variable with an earlier waiting push. */
async function writeFreePart(transaction: Transaction, accountId: number): Promise<Portion> {
  const part = await takeFreePart(transaction, accountId);
  if (!part) return NOTHING_TAKEN;
  const written = await writePoints(transaction, [part.tuples]);
  for (const offsets of written.refused.values()) await warnOperations(transaction, part, part.tuples, offsets);
  await announcePoints(transaction, accountId, written.ranges, {});
  await recordPart(transaction, accountId, written, part);
  for (const { id, variableIds } of part.ended) await completeOperation(transaction, id, variableIds);
  const readings = part.readingCounts.reduce((sum, count) => sum + count, 0);
  return { batches: 1, readings, waitedSec: 0, requestId: undefined, isMoreWaiting: true };
}

/** Batches that this transaction has locked, their readings, and the request id of their first push. */
interface Taken {
  readonly ids: readonly number[];
  /** The COPY tuples of each batch, in the order of `ids`. */
  readonly batches: readonly Buffer[];
  readonly requestId: string | undefined;
}

async function writeBatches(
  transaction: Transaction,
  accountId: number,
  { ids, batches, requestId }: Taken,
): Promise<WriteResult> {
  const written = await writePoints(transaction, batches);
  await warnOfRefused(transaction, ids, batches, written.refused);
  await announcePoints(transaction, accountId, written.ranges, requestId === undefined ? {} : { requestId });
  return written;
}

/** Marks the operations as Processing after 200 ms (R-D7), so that a short write needs no mark. */
function markWhenSlow(database: Database, operationIds: readonly number[], takenDate: string): NodeJS.Timeout {
  // A failure to mark the operations must not fail the write, because the state Processing serves only to inform
  // clients.
  return setTimeout(() => void markProcessing(database, operationIds, takenDate).catch(() => {}), MARK_AFTER_MS);
}
