/**
 * What waits in the database, as gauges. It is looked for when somebody scrapes, and then cheaply: by index, with a limit on
 * the time of each query, at most every few seconds. Whichever process is asked, the numbers are those of the whole service.
 */
import { type Database, withTransaction } from '../database/database.ts';
import type { Metrics } from './metrics.ts';
import { recent } from './recent.ts';

/** One query and the gauges its only row gives. */
export interface BacklogQuery {
  /** Gives one row with the columns named below, each a number. */
  readonly sql: string;
  readonly gauges: readonly { readonly column: string; readonly name: string; readonly help: string }[];
}

/** Larger numbers of rows are given as this: counting them would take too long. */
export const MAX_COUNTED = 100_000;

const MAX_AGE_MS = 5000;
const QUERY_TIMEOUT_MS = 1000;
const TIMEOUT_MS = 2500;

/** The gauges of a query that fails, or takes too long, are left out. */
export function watchBacklog(database: Database, metrics: Metrics, queries: readonly BacklogQuery[]): void {
  const look = async (): Promise<Readonly<Record<string, number>>> => {
    const found: Record<string, number> = {};
    for (const { sql, gauges } of queries) {
      const row = await askFor(database, sql);
      for (const { column, name } of gauges) if (typeof row?.[column] === 'number') found[name] = row[column];
    }
    return found;
  };
  const lookUp = recent(look, { maxAgeMs: MAX_AGE_MS, timeoutMs: TIMEOUT_MS });
  for (const { name, help } of queries.flatMap(({ gauges }) => gauges)) {
    metrics.gauge({ name, help }, async () => (await lookUp())?.[name]);
  }
}

async function askFor(database: Database, sql: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const ask = async () => {
    const options = { readOnly: true, statementTimeoutMs: QUERY_TIMEOUT_MS } as const;
    return withTransaction(database, async (transaction) => (await transaction.query(sql)).rows[0], options);
  };
  return ask().catch(() => undefined);
}
