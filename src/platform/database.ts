/**
 * Connections and transactions. Every transaction goes through `withTransaction`, which sets its time-outs; values
 * are parameters. 64-bit integers are read as JavaScript numbers: every id here stays far below 2^53.
 */
import pg from 'pg';
import type { Log } from './log.ts';

export type Database = pg.Pool;
export type Transaction = pg.PoolClient;
/** What a statement needs: a pool, a client or a transaction. */
export type Queryable = Pick<pg.ClientBase, 'query'>;

export interface DatabaseOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly applicationName: string;
  readonly log: Log;
}

export interface TransactionOptions {
  readonly isolation?: 'read committed' | 'repeatable read';
  readonly readOnly?: boolean;
  readonly statementTimeoutMs?: number;
}

const INT8_OID = 20;
const DEFAULT_STATEMENT_TIMEOUT_MS = 60_000;
const CONNECTION_TIMEOUT_MS = 10_000;

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8_OID && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig;

/** Opens a pool whose sessions speak UTC. A connection that breaks while idle is logged and replaced. */
export function openDatabase({ url, poolSize, applicationName, log }: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    options: '-c timezone=UTC -c datestyle=ISO -c jit=off',
    types,
  });
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection broke'));
  // Without a listener, a connection lost while checked out would end the process; the query in flight reports it.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/**
 * Runs `work` in one transaction: commits what it returns, rolls back what it throws. A connection that cannot roll
 * back is closed, not reused.
 */
export async function withTransaction<Result>(
  database: Database,
  work: (transaction: Transaction) => Promise<Result>,
  options: TransactionOptions = {},
): Promise<Result> {
  const client = await database.connect();
  let broken: Error | undefined;
  try {
    await client.query(beginStatement(options));
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    broken = await rollback(client);
    throw error;
  } finally {
    client.release(broken);
  }
}

function beginStatement({ isolation = 'read committed', readOnly = false, ...options }: TransactionOptions): string {
  const timeoutMs = options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS;
  const access = readOnly ? 'read only' : 'read write';
  return `begin isolation level ${isolation} ${access}; set local statement_timeout = ${Math.trunc(timeoutMs)}`;
}

async function rollback(client: Transaction): Promise<Error | undefined> {
  try {
    await client.query('rollback');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
