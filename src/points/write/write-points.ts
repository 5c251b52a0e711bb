/**
 * The only writer of points, used by push, files and calculations. Runs in the caller's transaction, so that the
 * caller's records of a batch are committed together with its points.
 */
import { once } from 'node:events';
import { from as copyFrom } from 'pg-copy-streams';
import type { Transaction } from '../../platform/database/database.ts';
import { COPY_HEADER, COPY_TRAILER, eachTuple, TUPLE_BYTES } from '../copy-codec.ts';
import type { WriteStamp } from '../origins/record-origin.ts';
import type { Micros, WrittenRange } from '../point.ts';
import type { RefusedTuples } from '../rollups/describe-refused.ts';
import { refuseRolledUp } from '../rollups/refuse-rolled-up.ts';
import { chunkOf, type Span, spanOf, spanOfAll } from './chunk-rules.ts';
import { type Chunk, findChunks, insertTargetOf, type PointTable } from './find-chunks.ts';
import { beginWrite, lockSeries, saveSeries } from './lock-series.ts';
import { openChunks } from './open-chunks.ts';
import { planWrite, targetsOf, type WritePlan } from './plan-write-rules.ts';
import { prepareChunks } from './prepare-chunks.ts';
import { recordRewrites } from './record-rewrites.ts';
import { type HistoryCuts, limitVersions, supersedeStored } from './supersede-stored.ts';

export interface WriteResult {
  /** Range of each written variable. Rows of variables that no longer exist are not written. */
  readonly ranges: readonly WrittenRange[];
  /** Tuples that were not written, because their dates are rolled up. */
  readonly refused: RefusedTuples;
  /**
   * VersionTimestamp of the first row of each date. If a variable already has this VersionTimestamp or a later one, its
   * last VersionTimestamp plus one microsecond is used (R-F1).
   */
  readonly versionTimestamp: Micros;
  /** The written variables, grouped by VersionTimestamp, for `recordOrigin`. */
  readonly stamps: readonly WriteStamp[];
}

// An append of at least this many rows first looks up the chunks of its dates, which takes 1 ms. If one chunk contains
// all dates, the append inserts into the chunk's own table, which is up to a fifth faster than through the hypertable.
const MIN_ROWS_TO_FIND_CHUNKS = 5000;

/**
 * Maximum time of a statement that writes a batch or a part of a file: creating and opening chunks can take minutes.
 */
export const WRITE_TIMEOUT_MS = 600_000;

/** Maximum number of rows of a short write. Such a write takes milliseconds. */
const MAX_SHORT_ROWS = 2000;

/**
 * Writes encoded readings by the rules of §9.2. The rows of a variable take effect in the order of `batches`. A row
 * with a VersionTag replaces the earlier row of the variable that has the same date and VersionTag (R-F2).
 *
 * @param batches COPY tuples (`encodeTuples`). The write changes the tuples in place: it sets the VersionTimestamps and
 * clears the VersionTags of variables without versioning.
 * @returns the result of the write, whose `ranges` the caller must announce in the same transaction (`announcePoints`).
 */
export async function writePoints(transaction: Transaction, batches: readonly Buffer[]): Promise<WriteResult> {
  const { variableIds, chunkNumbers } = targetsOf(batches);
  // Prepares chunks before locking the series. Dates that are spread over decades can need many new chunks; creating
  // the chunks later would prolong the locks.
  await prepareChunks(transaction, 'point', chunkNumbers);
  const series = await lockSeries(transaction, variableIds);
  const { accepted, refused } = await refuseRolledUp(transaction, batches, series);
  const versionTimestamp = await beginWrite(transaction, series.values());
  const plan = planWrite(accepted, series, versionTimestamp);
  await prepareChunks(transaction, 'point_version', historyChunks(plan));
  const span = spanOfAll(chunkNumbers);
  const isWorthFinding = plan.chunks.size > 0 || countTuples(plan.current) >= MIN_ROWS_TO_FIND_CHUNKS;
  const stored = isWorthFinding ? await takeChunks(transaction, plan, span) : [];
  const cuts: HistoryCuts = new Map();
  await supersedeStored(transaction, plan.chunks, stored, cuts);
  await copyTuples(transaction, 'point_version', plan.earlier);
  await copyCurrent(transaction, stored, span, plan.current);
  await limitVersions(transaction, plan.chunks, cuts);
  await saveSeries(transaction, plan.written, cuts);
  await recordRewrites(transaction, plan.written);
  const ranges = plan.written.map(({ variableId, fromMicros, toMicros, count }) => {
    return { variableId, fromMicros, toMicros, count };
  });
  return { ranges, refused, versionTimestamp, stamps: stampsOf(plan) };
}

/** Groups the written variables by VersionTimestamp; almost always there is one group. */
function stampsOf({ written }: WritePlan): readonly WriteStamp[] {
  const stamps = Map.groupBy(written, ({ firstVersionTimestamp }) => firstVersionTimestamp);
  return [...stamps].map(([fromMicros, members]) => ({
    fromMicros,
    toMicros: members.reduce((last, { lastVersionTimestamp }) => Math.max(last, lastVersionTimestamp), fromMicros),
    variableIds: new Set(members.map(({ variableId }) => variableId)),
  }));
}

/**
 * Finds the existing chunks that overlap `span`, and prepares them for the rows of the write (`openChunks`).
 * @returns these chunks.
 */
async function takeChunks(transaction: Transaction, plan: WritePlan, span: Span): Promise<readonly Chunk[]> {
  const stored = await findChunks(transaction, span);
  const tables: readonly PointTable[] = historyChunks(plan).length > 0 ? ['point', 'point_version'] : ['point'];
  return openChunks(transaction, stored, tables, countTuples(plan.current) <= MAX_SHORT_ROWS);
}

/**
 * Inserts the written rows that become current versions: chunk by chunk if any chunk in `stored` is compressed,
 * otherwise in one statement.
 */
async function copyCurrent(
  transaction: Transaction,
  stored: readonly Chunk[],
  span: Span,
  tuples: readonly Buffer[],
): Promise<void> {
  const target = insertTargetOf(stored, 'point', span);
  const isByChunk = target === 'point' && stored.some(({ isCompressed }) => isCompressed);
  if (!isByChunk) return copyTuples(transaction, target, tuples);
  for (const [chunkNumber, part] of splitByChunk(tuples)) {
    await copyTuples(transaction, insertTargetOf(stored, 'point', spanOf(chunkNumber)), part);
  }
}

/** Groups tuples by chunk. @returns views of the tuples by chunk number. */
function splitByChunk(batches: readonly Buffer[]): ReadonlyMap<number, readonly Buffer[]> {
  const parts = new Map<number, Buffer[]>();
  for (const tuples of batches) {
    let begin = 0;
    let number = Number.NaN;
    const endPart = (end: number): void => {
      if (end > begin) getOrAddPart(parts, number).push(tuples.subarray(begin, end));
      begin = end;
    };
    eachTuple(tuples, (_variableId, dateMicros, offset) => {
      const next = chunkOf(dateMicros);
      if (next === number) return;
      endPart(offset);
      number = next;
    });
    endPart(tuples.length);
  }
  return parts;
}

function getOrAddPart(parts: Map<number, Buffer[]>, number: number): Buffer[] {
  const part = parts.get(number) ?? [];
  parts.set(number, part);
  return part;
}

function countTuples(batches: readonly Buffer[]): number {
  return batches.reduce((bytes, tuples) => bytes + tuples.length, 0) / TUPLE_BYTES;
}

/** Returns the numbers of the history chunks that can receive superseded rows. */
function historyChunks({ chunks }: WritePlan): readonly number[] {
  return [...chunks].flatMap(([chunk, { superseded }]) => (superseded.variableIds.length > 0 ? [chunk] : []));
}

const COLUMNS = 'date, value, version_timestamp, variable_id, version_tag_id, tag_set_id';

/**
 * Writes encoded points into a table by COPY BINARY.
 * @param table quoted name of a hypertable or chunk.
 * @param batches COPY tuples (`copy-codec`); an empty list writes nothing.
 */
export async function copyTuples(transaction: Transaction, table: string, batches: readonly Buffer[]): Promise<void> {
  if (batches.length === 0) return;
  const stream = transaction.query(copyFrom(`copy ${table} (${COLUMNS}) from stdin (format binary)`));
  const finished = once(stream, 'finish');
  // `finished` may reject before it is awaited; this handler prevents an unhandled rejection.
  finished.catch(() => {});
  for (const part of [COPY_HEADER, ...batches, COPY_TRAILER]) {
    if (!stream.write(part)) await Promise.race([once(stream, 'drain'), finished]);
  }
  stream.end();
  await finished;
}
