/**
 * Turns accepted batches into points, exactly once: one transaction writes the points, deletes the batches, ends their
 * operations and announces both. It holds a lock per account, so any number of ingesters may run; batches are written in
 * the order of acceptance (R-D6). The SQL of batches and operations is in src/push/store.
 */
import { type Database, type Transaction, withTransaction } from '../platform/database/database.ts';
import { announcePoints } from '../points/announce-points.ts';
import { writePoints } from '../points/write/write-points.ts';
import {
  completeOperations,
  deleteBatches,
  lockQueue,
  MAX_BATCHES,
  markProcessing,
  readBatchRows,
  takeBatches,
  type WaitingBatch,
} from '../push/store/waiting-batches.ts';

const WRITE_TIMEOUT_MS = 600_000;
const MARK_AFTER_MS = 200;

export interface Portion {
  /** Request id of the push accepted first (R-A10); undefined: no batch waited. */
  readonly requestId: string | undefined;
  readonly readings: number;
  /** Seconds from the acceptance of the oldest batch to the start of the transaction. */
  readonly waitedSec: number;
  /** Number of batches written; 0: no batch waits. */
  readonly batches: number;
  /** Whether batches were left over. Batches accepted later have a wake-up of their own. */
  readonly isMoreWaiting: boolean;
}

const NOTHING_WAITS: Portion = {
  ...{ batches: 0, readings: 0, waitedSec: 0, isMoreWaiting: false },
  requestId: undefined,
};

/** Calls `ingestPortion` (R-D6). @returns the number of batches written. */
export async function ingestAccount(database: Database, accountId: number, maxRows: number): Promise<number> {
  return (await ingestPortion(database, accountId, maxRows)).batches;
}

/**
 * Writes waiting batches of an account in one transaction (R-D6).
 * @param maxRows maximum number of readings; at least one batch is written.
 * @param onTaken called with the ids of the batches before they are written; an error after this call concerns them.
 */
export async function ingestPortion(
  database: Database,
  accountId: number,
  maxRows: number,
  onTaken: (batchIds: readonly number[]) => void = () => {},
): Promise<Portion> {
  return withTransaction(
    database,
    async (transaction) => {
      await lockQueue(transaction, accountId);
      const batches = await takeBatches(transaction, accountId, maxRows);
      const [first] = batches;
      if (!first) return NOTHING_WAITS;
      const { found, waitedSec } = first;
      const requestId = first.requestId ?? undefined;
      onTaken(batches.map(({ id }) => id));
      const operationIds = batches.flatMap((batch) => batch.operationIds.map(Number));
      const marking = markWhenSlow(database, operationIds, first.takenDate ?? '');
      try {
        await writeBatches(transaction, accountId, batches, requestId);
      } finally {
        clearTimeout(marking);
      }
      await completeOperations(transaction, operationIds);
      const readings = batches.reduce((sum, batch) => sum + batch.readings, 0);
      const isMoreWaiting = found > batches.length || found === MAX_BATCHES;
      return { batches: batches.length, readings, waitedSec: waitedSec ?? 0, requestId, isMoreWaiting };
    },
    { statementTimeoutMs: WRITE_TIMEOUT_MS },
  );
}

async function writeBatches(
  transaction: Transaction,
  accountId: number,
  batches: readonly WaitingBatch[],
  requestId: string | undefined,
): Promise<void> {
  const ids = batches.map(({ id }) => id);
  const { ranges } = await writePoints(transaction, await readBatchRows(transaction, ids));
  await announcePoints(transaction, accountId, ranges, requestId === undefined ? {} : { requestId });
  await deleteBatches(transaction, ids);
}

/** Marks the operations as Processing after 200 ms (R-D7). Marking each short write would cost more than the write. */
function markWhenSlow(database: Database, operationIds: readonly number[], takenDate: string): NodeJS.Timeout {
  // The mark is informative: a failure must not fail the write.
  return setTimeout(() => void markProcessing(database, operationIds, takenDate).catch(() => {}), MARK_AFTER_MS);
}
