/** When a write refuses readings with rolled-up dates, adds warnings to the push operations of these readings. */
import type { Transaction } from '../../platform/database/database.ts';
import { TUPLE_BYTES } from '../../points/copy-codec.ts';
import { describeRefused, type RefusedTuples } from '../../points/rollups/describe-refused.ts';
import { MAX_WARNINGS, type PushWarning } from '../push-answer.ts';

const FIND_OPERATIONS = `
  select operation_ids as "operationIds", reading_counts as "readingCounts"
  from push_batch where id = any($1::int8[]) order by place, id`;

const ADD_WARNINGS = 'update push_operation set warnings = warnings || $2::jsonb where id = $1';

/**
 * Adds warnings to the operations of the refused tuples.
 * @param batchIds ids of `batches`, in the same order. The rows of the batches in `push_batch` must still exist.
 */
export async function warnOfRefused(
  transaction: Transaction,
  batchIds: readonly number[],
  batches: readonly Buffer[],
  refused: RefusedTuples,
): Promise<void> {
  if (refused.size === 0) return;
  const { rows } = await transaction.query<BatchOperations>(FIND_OPERATIONS, [batchIds]);
  for (const [batch, offsets] of refused) {
    const operations = rows[batch] ?? { operationIds: [], readingCounts: [] };
    await warnOperations(transaction, operations, batches[batch] ?? Buffer.alloc(0), offsets);
  }
}

/** The operations of a batch, and the number of readings of each operation in the batch. */
export interface BatchOperations {
  /** Ids of the operations, as strings: the driver returns the 64-bit integers of an array as strings, not numbers. */
  readonly operationIds: readonly string[];
  readonly readingCounts: readonly number[];
}

/**
 * Adds warnings to those operations of a batch whose tuples were refused.
 * @param tuples all tuples of the batch.
 * @param offsets byte offsets of the refused tuples in `tuples`.
 */
export async function warnOperations(
  transaction: Transaction,
  { operationIds, readingCounts }: BatchOperations,
  tuples: Buffer,
  offsets: readonly number[],
): Promise<void> {
  let start = 0;
  for (const [index, id] of operationIds.entries()) {
    const end = start + (readingCounts[index] ?? 0) * TUPLE_BYTES;
    const own = offsets.filter((offset) => offset >= start && offset < end);
    if (own.length > 0) await warnOperation(transaction, Number(id), tuples, own);
    start = end;
  }
}

/** Adds warnings to one operation. @param offsets byte offsets of the operation's refused tuples in `tuples`. */
export async function warnOperation(
  transaction: Transaction,
  operationId: number,
  tuples: Buffer,
  offsets: readonly number[],
): Promise<void> {
  const warnings = describeRefused(tuples, offsets)
    .slice(0, MAX_WARNINGS)
    .map((message): PushWarning => ({ path: '$', code: 'rolled_up_date', message }));
  await transaction.query(ADD_WARNINGS, [operationId, JSON.stringify(warnings)]);
}
