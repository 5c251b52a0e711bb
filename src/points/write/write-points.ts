/**
 * The one writer of points: used by push, files and calculations. It runs inside the caller's transaction, so what the
 * caller records of the batch is committed with its points or not at all.
 */
import type { Transaction } from '../../platform/database/database.ts';
import { TUPLE_BYTES } from '../copy-codec.ts';
import type { Micros, WrittenRange } from '../point.ts';
import { spanOfAll } from './chunk-rules.ts';
import { copyTuples } from './copy-tuples.ts';
import { findChunks, insertTargetOf } from './find-chunks.ts';
import { beginWrite, lockSeries, saveSeries } from './lock-series.ts';
import { planWrite, targetsOf, type WritePlan } from './plan-write-rules.ts';
import { prepareChunks } from './prepare-chunks.ts';
import { recordRewrites } from './record-rewrites.ts';
import { limitVersions, supersedeStored } from './supersede-stored.ts';

export interface WriteResult {
  /** What changed, per variable. Rows of variables that no longer exist are not written. */
  readonly ranges: readonly WrittenRange[];
  /**
   * VersionTimestamp of the first entry of every date in this write; later for variables that had that one or a later
   * one already.
   */
  readonly versionTimestamp: Micros;
}

// Looking a chunk up takes 1 ms, which is what copying 500 rows takes; rows go to a known chunk up to a fifth faster.
const MIN_ROWS_TO_FIND_CHUNKS = 5000;

/**
 * Writes encoded readings by the rules of §9.2. Rows of one variable take effect in their order; the same VersionTag
 * again at the same date replaces the first.
 *
 * @param batches COPY tuples (`encodeTuples`); their VersionTimestamps are patched in place.
 * @returns the ranges written, to be announced in the caller's transaction.
 */
export async function writePoints(transaction: Transaction, batches: readonly Buffer[]): Promise<WriteResult> {
  const { variableIds, chunkNumbers } = targetsOf(batches);
  // Before anything is locked: dates decades apart may need many.
  await prepareChunks(transaction, 'point', chunkNumbers);
  const series = await lockSeries(transaction, variableIds);
  const versionTimestamp = await beginWrite(transaction, series.values());
  const plan = planWrite(batches, series, versionTimestamp);
  await prepareChunks(transaction, 'point_version', historyChunks(plan));
  const span = spanOfAll(chunkNumbers);
  const isWorthLooking = plan.chunks.size > 0 || countTuples(plan.current) >= MIN_ROWS_TO_FIND_CHUNKS;
  const stored = isWorthLooking ? await findChunks(transaction, span) : [];
  await supersedeStored(transaction, plan.chunks, stored);
  await copyTuples(transaction, 'point_version', plan.earlier);
  await copyTuples(transaction, insertTargetOf(stored, 'point', span), plan.current);
  await limitVersions(transaction, plan.chunks);
  await saveSeries(transaction, plan.written);
  await recordRewrites(transaction, plan.written);
  const ranges = plan.written.map(({ variableId, fromMicros, toMicros, count }) => {
    return { variableId, fromMicros, toMicros, count };
  });
  return { ranges, versionTimestamp };
}

function countTuples(batches: readonly Buffer[]): number {
  return batches.reduce((bytes, tuples) => bytes + tuples.length, 0) / TUPLE_BYTES;
}

/** Chunks of history that superseded rows go to. */
function historyChunks({ chunks }: WritePlan): readonly number[] {
  return [...chunks].flatMap(([chunk, { superseded }]) => (superseded.variableIds.length > 0 ? [chunk] : []));
}
