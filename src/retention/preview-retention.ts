/**
 * Counts the points and versions that a retention policy would delete now, and the rollups that it would insert.
 * Chunks of the points are counted oldest first. When less than a second of `MAX_COUNTING_MS` is left, no further chunk is
 * counted: the counts then end at `countedUntil`.
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
  /** Date of the first point that would be deleted; null when no point would be deleted. */
  readonly firstDate: string | null;
  /** False when the counts cover only dates before `countedUntil`. */
  readonly isComplete: boolean;
  readonly countedUntil: string;
}

export type RetentionRule = Pick<Retention, 'keepRawYears' | 'rollup' | 'timeZoneId'>;

const MAX_COUNTING_MS = 20_000;
const MIN_STATEMENT_MS = 1000;

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
 * @param owner an account stands for those of its variables that have no policy.
 * @throws {DatabaseError} query_canceled when one chunk takes longer than the time that is left and a second.
 */
export async function previewRetention(
  database: Database,
  owner: RetentionOwner,
  rule: RetentionRule,
): Promise<RetentionPreview> {
  const untilMicros = await findBoundary(database, rule.keepRawYears);
  const deadlineMs = performance.now() + MAX_COUNTING_MS;
  const chunks = await withTransaction(database, (transaction) =>
    findChunks(transaction, { fromMicros: Number.NEGATIVE_INFINITY, toMicros: untilMicros }),
  );
  const byDate = [...chunks].sort((a, b) => a.fromMicros - b.fromMicros || (a.table < b.table ? -1 : 1));
  const variableIds = new Set<number>();
  const counts = { points: 0, versions: 0, rollups: 0 };
  let [firstMicros, countedUntil, isComplete] = [null as number | null, untilMicros, true];
  for (const chunk of byDate) {
    const leftMs = deadlineMs - performance.now();
    if (leftMs < MIN_STATEMENT_MS) {
      [countedUntil, isComplete] = [chunk.fromMicros, false];
      break;
    }
    const counted = await countChunk(
      database,
      owner,
      rule,
      { ...chunk, toMicros: Math.min(chunk.toMicros, untilMicros) },
      leftMs,
    );
    if (chunk.table === 'point_version') counts.versions += counted.points ?? 0;
    else {
      counts.points += counted.points ?? 0;
      counts.rollups += counted.rollups;
      firstMicros ??= counted.firstMicros;
      for (const id of counted.variableIds ?? []) variableIds.add(id);
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

async function countChunk(
  database: Database,
  { accountId, variableId }: RetentionOwner,
  { rollup, timeZoneId }: RetentionRule,
  chunk: Chunk,
  leftMs: number,
): Promise<Counted> {
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
    { readOnly: true, statementTimeoutMs: Math.ceil(leftMs) + MIN_STATEMENT_MS },
  );
}
