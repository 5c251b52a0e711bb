/**
 * Removes the points of deleted variables in the background (R-C7). Each transaction purges at most 32 chunks of each
 * table.
 */
import type { Database, Transaction } from '../../platform/database/database.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { holdGate } from '../columns/hold-gate.ts';
import { type Chunk, findChunks } from '../write/find-chunks.ts';
import { attemptPurge, type PurgeTurn } from './attempt-purge.ts';

/**
 * One transaction purges at most this many chunks of each table. The limit bounds the number of locks, except that a
 * compressed chunk makes the transaction lock all chunks of its table.
 */
const CHUNKS_AT_ONCE = 32;

const FIND_PROGRESS = `
  select case when purged_until > '-infinity' then (extract(epoch from purged_until) * 1000000)::int8 end as "untilMicros"
  from point_purge where variable_id = $1`;

const removeFrom = (target: string) =>
  `delete from ${target} where variable_id = $1 and date >= $2::timestamptz and date < $3::timestamptz`;

/**
 * Purges up to 32 chunks of each table for the next deleted variable (R-C7).
 * @param last result of the previous call; undefined to start from the first account.
 * @returns the value of `last` for the next call; undefined when no unlocked purge is due.
 * @throws {PurgeFailure} when the purge fails; a later call retries it.
 */
export function purgeDeletedVariable(database: Database, last?: PurgeTurn): Promise<PurgeTurn | undefined> {
  return attemptPurge(database, 'point_purge', last, async (transaction, variableId) => {
    await holdGate(transaction);
    // Waits for writers that already run: each of them has inserted or locked the row of `series`. Later writers do not
    // find the variable.
    await transaction.query('insert into series (variable_id) values ($1) on conflict do nothing', [variableId]);
    await transaction.query('delete from series where variable_id = $1', [variableId]);
    await transaction.query('delete from point_rewrite where variable_id = $1', [variableId]);
    await transaction.query('delete from point_rollup where variable_id = $1', [variableId]);
    return purgeNextChunks(transaction, variableId);
  });
}

async function purgeNextChunks(transaction: Transaction, variableId: number): Promise<boolean> {
  const { rows } = await transaction.query<{ untilMicros: number | null }>(FIND_PROGRESS, [variableId]);
  const fromMicros = rows[0]?.untilMicros ?? Number.NEGATIVE_INFINITY;
  const chunks = await findChunks(transaction, { fromMicros, toMicros: Number.POSITIVE_INFINITY });
  const ends = [...new Set(chunks.map(({ toMicros }) => toMicros))].sort((a, b) => a - b);
  const untilMicros = ends[CHUNKS_AT_ONCE - 1] ?? Number.POSITIVE_INFINITY;
  for (const chunk of chunks.filter(({ toMicros }) => toMicros <= untilMicros))
    await purgeChunk(transaction, variableId, chunk);
  if (ends.length <= CHUNKS_AT_ONCE) return true;
  await transaction.query('update point_purge set purged_until = $2 where variable_id = $1', [
    variableId,
    formatInstant(untilMicros),
  ]);
  return false;
}

async function purgeChunk(transaction: Transaction, variableId: number, chunk: Chunk): Promise<void> {
  const bounds = [formatInstant(chunk.fromMicros), formatInstant(chunk.toMicros)];
  await transaction.query(removeFrom(chunk.target), [variableId, ...bounds]);
}
