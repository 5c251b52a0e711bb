/**
 * Counts the points and versions that a retention policy would delete now, and the rollups that it would insert.
 * Chunks are counted oldest first. When counting takes longer than `MAX_COUNTING_MS`, the counts end at `countedUntil`,
 * the start of the first chunk that was not counted.
 */
import { type Database, withTransaction } from '../platform/database/database.ts';
import { formatInstant } from '../platform/dates/instant-rules.ts';
import { bucketStart } from '../points/buckets/bucket-start.ts';
import { offsetSpans } from '../points/buckets/zone-offsets.ts';
import { holdGate } from '../points/columns/hold-gate.ts';
import { type Chunk, findChunks } from '../points/write/find-chunks.ts';
import { findBoundary } from './boundary.ts';
import type { Retention, RetentionOwner } from './retention.ts';

export interface RetentionPreview {
  /** Date before which points would be rolled up. */
  readonly boundary: string;
  readonly variableCount: number;
  readonly pointCount: number;
  /** Number of superseded versions that would be deleted with the points. */
  readonly versionCount: number;
  readonly rollupCount: number;
  /** Date of the first point that would be deleted; null when `pointCount` is 0. */
  readonly firstDate: string | null;
  /** False when the counting took too long. The counts then end at `countedUntil`, which is before `boundary`. */
  readonly isComplete: boolean;
  readonly countedUntil: string;
}

export type RetentionRule = Pick<Retention, 'keepRawYears' | 'rollup' | 'timeZoneId'>;

const MAX_COUNTING_MS = 20_000;
const QUERY_CANCELED = '57014';

const WANTED = `
  select id from variable
  where account_id = $1 and ($2::int is null and not exists (select from retention where retention.variable_id = variable.id)
                             or id = $2)`;

interface Counted {
  readonly variableIds: readonly number[] | null;
  readonly points: number | null;
  readonly rollups: number;
  readonly firstMicros: number | null;
}

/**
 * @param owner a variable, or an account. The preview for an account covers only the variables of the account that have
 * no policy of their own.
 * @param maxMs maximum duration of the counting. Default: `MAX_COUNTING_MS`.
 */
export async function previewRetention(
  database: Database,
  owner: RetentionOwner,
  rule: RetentionRule,
  maxMs: number = MAX_COUNTING_MS,
): Promise<RetentionPreview> {
  const untilMicros = await findBoundary(database, rule.keepRawYears);
  const deadlineMs = performance.now() + maxMs;
  const chunks = await withTransaction(database, (transaction) =>
    findChunks(transaction, { fromMicros: Number.NEGATIVE_INFINITY, toMicros: untilMicros }),
  );
  const byDate = Map.groupBy(
    [...chunks].sort((a, b) => a.fromMicros - b.fromMicros),
    ({ fromMicros }) => fromMicros,
  );
  const variableIds = new Set<number>();
  const counts = { points: 0, versions: 0, rollups: 0 };
  let [firstMicros, countedUntil, isComplete] = [null as number | null, untilMicros, true];
  for (const [fromMicros, group] of byDate) {
    const counted: (readonly [Chunk, Counted])[] = [];
    for (const found of group) {
      const chunk = { ...found, toMicros: Math.min(found.toMicros, untilMicros) };
      const chunkCounts = await countChunk(database, owner, rule, chunk, deadlineMs - performance.now());
      if (chunkCounts) counted.push([chunk, chunkCounts]);
    }
    // `point` and `point_version` must be counted up to the same date. If the time runs out within this group of chunks,
    // which all begin at `fromMicros`, the counts therefore leave out the whole group.
    if (counted.length < group.length) {
      [countedUntil, isComplete] = [fromMicros, false];
      break;
    }
    for (const [{ table }, found] of counted) {
      if (table === 'point_version') counts.versions += found.points ?? 0;
      else {
        counts.points += found.points ?? 0;
        counts.rollups += found.rollups;
        firstMicros ??= found.firstMicros;
        for (const id of found.variableIds ?? []) variableIds.add(id);
      }
    }
  }
  return {
    boundary: formatInstant(untilMicros),
    variableCount: variableIds.size,
    pointCount: counts.points,
    versionCount: counts.versions,
    rollupCount: counts.rollups,
    firstDate: firstMicros === null ? null : formatInstant(firstMicros),
    isComplete,
    countedUntil: formatInstant(countedUntil),
  };
}

/** @returns the counts of one chunk; undefined when the counting takes longer than `leftMs`. */
async function countChunk(
  database: Database,
  { accountId, variableId }: RetentionOwner,
  { rollup, timeZoneId }: RetentionRule,
  chunk: Chunk,
  leftMs: number,
): Promise<Counted | undefined> {
  if (leftMs < 1) return undefined;
  const { fromMicros, toMicros } = chunk;
  const bucket = rollup === 'Hour' ? 'hour' : 'day';
  const start = bucketStart(bucket, offsetSpans(timeZoneId, fromMicros, toMicros), 'date');
  return withTransaction(
    database,
    async (transaction) => {
      await holdGate(transaction);
      const { rows } = await transaction.query<Counted>(
        `select array_agg(distinct variable_id) as "variableIds", sum(points)::float8 as points, count(*)::float8 as rollups,
                (extract(epoch from min(first_date)) * 1000000)::int8 as "firstMicros"
         from (select variable_id, count(*) as points, min(date) as first_date from ${chunk.target}
               where variable_id in (${WANTED}) and date >= $3::timestamptz and date < $4::timestamptz
               group by variable_id, ${start}) bucket`,
        [accountId, variableId, formatInstant(fromMicros), formatInstant(toMicros)],
      );
      return rows[0] ?? { variableIds: null, points: null, rollups: 0, firstMicros: null };
    },
    { readOnly: true, statementTimeoutMs: Math.ceil(leftMs) },
  ).catch((error: { readonly code?: string }) => {
    if (error.code === QUERY_CANCELED) return undefined;
    throw error;
  });
}
