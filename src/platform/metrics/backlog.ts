/**
 * Gauges of the work that waits in the database. A scrape runs the queries, at most every 5 s; each query has a time
 * limit. Every process reports the numbers of the whole service.
 */
import { type Database, withTransaction } from '../database/database.ts';
import type { Metrics } from './metrics.ts';
import { recent } from './recent.ts';

/** A query that returns one row, and the gauges that report the columns of this row. */
export interface BacklogQuery {
  /** SQL that returns one row with a numeric column per gauge. */
  readonly sql: string;
  readonly gauges: readonly { readonly column: string; readonly name: string; readonly help: string }[];
}

/** A query counts at most this many rows, because counting more rows takes too long. */
export const MAX_COUNTED = 100_000;

const MAX_AGE_MS = 5000;
const QUERY_TIMEOUT_MS = 1000;
const TIMEOUT_MS = 2500;

/**
 * Registers the gauges of the queries. When a query fails or times out, its gauges are omitted. When all queries
 * together take longer than 2.5 s, the scrape omits all gauges.
 */
export function watchBacklog(database: Database, metrics: Metrics, queries: readonly BacklogQuery[]): void {
  const read = () => readBacklog(database, queries);
  const readRecent = recent(read, { maxAgeMs: MAX_AGE_MS, timeoutMs: TIMEOUT_MS });
  for (const { name, help } of queries.flatMap(({ gauges }) => gauges)) {
    metrics.gauge({ name, help }, async () => (await readRecent())?.[name]);
  }
}

/** @returns the values of the gauges by name, without the gauges of a query that fails or times out. */
export async function readBacklog(
  database: Database,
  queries: readonly BacklogQuery[],
): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {};
  for (const { sql, gauges } of queries) {
    const row = await readRow(database, sql);
    for (const { column, name } of gauges) if (typeof row?.[column] === 'number') found[name] = row[column];
  }
  return found;
}

async function readRow(database: Database, sql: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const query = async () => {
    const options = { readOnly: true, statementTimeoutMs: QUERY_TIMEOUT_MS } as const;
    return withTransaction(database, async (transaction) => (await transaction.query(sql)).rows[0], options);
  };
  return query().catch(() => undefined);
}
