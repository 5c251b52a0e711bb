/**
 * Connections and transactions of the service. 64-bit integers are read as JavaScript numbers: every id stays far below
 * 2^53. Instants are read as ISO 8601 text in UTC with microseconds.
 */

import pg from 'pg';
import { parseJsonText } from '../json/json-text.ts';
import type { Log } from '../log.ts';
import { watchConnections } from './connection-watch.ts';
import { type ReadAhead, readAhead } from './read-ahead.ts';
import { type ReadLimits, watchRead } from './read-watch.ts';

/** A pool, or the share of a pool that one account may use. It lends connections to `streamInSnapshot`. */
export interface SnapshotSource extends Queryable {
  readonly readLimits: ReadLimits;
  /** @param signal aborts the wait for a free connection. A plain pool does not support this and ignores the signal. */
  borrow(signal?: AbortSignal): Promise<Connection>;
  /** Memory for reading ahead of the consumer. Default: none. */
  readonly ahead?: ReadAhead;
}
/** A pool of database sessions. */
export interface Database extends pg.Pool, Pick<SnapshotSource, 'readLimits' | 'borrow'> {}
/** One session of the pool, outside a transaction. */
export type Connection = pg.PoolClient;
/** A connection inside a transaction. */
export type Transaction = Connection;
/** A pool, a connection or a transaction: each of them can run statements. */
export type Queryable = Pick<pg.ClientBase, 'query'>;

export interface DatabaseOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly applicationName: string;
  readonly log: Log;
  /** Time-outs of `streamInSnapshot`; the default is 60 s for each. */
  readonly readLimits?: Partial<ReadLimits>;
}

export interface TransactionOptions {
  readonly isolation?: 'read committed' | 'repeatable read';
  readonly readOnly?: boolean;
  readonly statementTimeoutMs?: number;
  /** Milliseconds for which the transaction may be idle; the server then ends the session. Default: 6 s. */
  readonly idleTimeoutMs?: number;
}

const INT8_OID = 20;
const TIMESTAMPTZ_OID = 1184;
const DEFAULT_STATEMENT_TIMEOUT_MS = 60_000;
const CONNECTION_TIMEOUT_MS = 5000;
const CLOSE_TIMEOUT_MS = 2000;
/** Default maximum time a transaction may idle. The server then ends the session, which releases its locks. */
const IDLE_IN_TRANSACTION_MS = 6000;
/** Client and server send a keepalive when a connection has been silent for this time. */
const KEEPALIVE_IDLE_SEC = 4;
const DEFAULT_READ_LIMITS: ReadLimits = { silenceMs: DEFAULT_STATEMENT_TIMEOUT_MS, stallMs: 60_000 };
// A client that has crashed, is suspended or has disconnected must not keep its locks. A statement whose client has
// closed the connection ends within a second. A peer that does not answer keepalives is disconnected after about 7 s. A
// session that idles inside a transaction is ended after 6 s. Another process then finds the unfinished work in its
// periodic search of the database (the sweep), and takes it over, at most 10 s after the failure. A client that resumes
// finds its connection terminated and repeats the work.
const SESSION_OPTIONS = [
  ['timezone', 'UTC'],
  ['datestyle', 'ISO'],
  ['jit', 'off'],
  ['client_connection_check_interval', 1000],
  ['idle_in_transaction_session_timeout', IDLE_IN_TRANSACTION_MS],
  ['tcp_keepalives_idle', KEEPALIVE_IDLE_SEC],
  ['tcp_keepalives_interval', 1],
  ['tcp_keepalives_count', 3],
  ['tcp_user_timeout', 7000],
]
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');

/**
 * Keeps chunks of points from being compressed during the snapshot (points/columns). LOCK takes no snapshot, so the
 * transaction holds the lock before the snapshot begins.
 */
const ENTER_SNAPSHOT = '; lock table point_gate in access share mode';

const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [INT8_OID]: Number,
  [pg.types.builtins.JSON]: (text) => parseJsonText(text),
  [pg.types.builtins.JSONB]: (text) => parseJsonText(text),
  [TIMESTAMPTZ_OID]: parseInstant,
};

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && PARSERS[oid]) || pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig;

/** Converts `2026-03-01 00:15:00.5+00` to `2026-03-01T00:15:00.5Z`; a Date would lose the microseconds (R-A8). */
function parseInstant(text: string): string {
  return text.replace(' ', 'T').replace(/\+00$/, 'Z');
}

/** Opens a pool whose sessions use the time zone UTC. A connection that breaks while idle is logged and replaced. */
export function openDatabase({ url, poolSize, applicationName, log, readLimits }: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_IDLE_SEC * 1000,
    options: SESSION_OPTIONS,
    types,
  });
  watchConnections(pool, url, log);
  pool.on('error', (error) =>
    log.warn({ err: error }, 'an idle database connection broke; the pool replaces it when needed'),
  );
  // Without a listener, a connection that breaks would end the process. The query in flight reports the error.
  pool.on('connect', (client) => client.on('error', () => {}));
  return Object.assign(pool, {
    readLimits: { ...DEFAULT_READ_LIMITS, ...readLimits },
    borrow: () => pool.connect(),
  });
}

/**
 * Runs `work` in one transaction: commits when `work` returns, rolls back when it throws. A connection that cannot roll
 * back is closed, not reused.
 * @throws what `work` throws.
 */
export async function withTransaction<Result>(
  database: Database,
  work: (transaction: Transaction) => Promise<Result>,
  options: TransactionOptions = {},
): Promise<Result> {
  return withConnection(database, (connection) => inTransaction(connection, work, options));
}

/**
 * Lends a connection of the pool to `work`. A connection on which `inTransaction` could not roll back is closed, not
 * reused.
 * @throws what `work` throws.
 */
export async function withConnection<Result>(
  database: Database,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const client = await database.connect();
  let isBroken = true;
  try {
    const result = await work(client);
    isBroken = false;
    return result;
  } catch (error) {
    isBroken = error instanceof BrokenConnectionError;
    throw isBroken ? (error as Error).cause : error;
  } finally {
    client.release(isBroken);
  }
}

/**
 * Like `withTransaction`, but on a connection that the caller keeps for several transactions.
 * @throws what `work` throws, after the rollback.
 * @throws {BrokenConnectionError} when the rollback fails. The `cause` is the error that led to the rollback.
 */
export async function inTransaction<Result>(
  connection: Connection,
  work: (transaction: Transaction) => Promise<Result>,
  options: TransactionOptions = {},
): Promise<Result> {
  try {
    await connection.query(beginStatement(options));
    const result = await work(connection);
    await connection.query('commit');
    return result;
  } catch (error) {
    await connection.query('rollback').catch(() => {
      throw new BrokenConnectionError('cannot roll back', { cause: error });
    });
    throw error;
  }
}

/** The rows of each statement of `opening` (see `streamInSnapshot`), as `query` returns them. */
export type OpenedRows = readonly (readonly unknown[])[];

/**
 * Streams the items that `read` yields from a read-only snapshot. Frees the connection when the consumer stops.
 * Destroys the connection when `signal` aborts, or when the consumer or the database pauses too long (`readLimits`). No
 * statement has a time limit. With `source.ahead`, frees the connection once the remaining items fit into the memory
 * for reading ahead.
 * @param read receives the rows of each statement of `opening`.
 * @param opening SQL statements without parameters. The statements run in the round trip that begins the snapshot.
 * @throws the abort reason of `signal`; {Error} `connection terminated: …` if a time limit of `readLimits` has passed.
 */
export async function* streamInSnapshot<Item>(
  source: SnapshotSource,
  read: (transaction: Transaction, opened: OpenedRows) => AsyncIterable<Item>,
  signal?: AbortSignal,
  opening: readonly string[] = [],
): AsyncGenerator<Item> {
  if (source.ahead) yield* readAhead((leaving) => streamDirectly(source, read, leaving, opening), source.ahead, signal);
  else yield* streamDirectly(source, read, signal, opening);
}

async function* streamDirectly<Item>(
  source: SnapshotSource,
  read: (transaction: Transaction, opened: OpenedRows) => AsyncIterable<Item>,
  signal: AbortSignal | undefined,
  opening: readonly string[],
): AsyncGenerator<Item> {
  signal?.throwIfAborted();
  const connection = await source.borrow(signal);
  // The signal can abort during the wait. No statement has run yet, so no rollback is needed.
  if (signal?.aborted) connection.release();
  signal?.throwIfAborted();
  const giveBack = once((isBroken: boolean) => connection.release(isBroken));
  const watched = { bytesRead: () => bytesRead(connection), cut: () => giveBack(true) };
  const limits = source.readLimits;
  const watch = watchRead(watched, limits, signal);
  // `watch` ends the read when the consumer is slow; the time-out of PostgreSQL ends the read when this process
  // is suspended or has crashed.
  const idleTimeoutMs = limits.stallMs + IDLE_IN_TRANSACTION_MS;
  try {
    const opened = await openSnapshot(connection, idleTimeoutMs, opening);
    for await (const item of read(connection, opened)) {
      watch.handOver();
      yield item;
      watch.takeBack();
    }
  } catch (error) {
    throw watch.reason() ?? error;
  } finally {
    watch.end();
    if (!watch.reason())
      await connection.query('rollback').then(
        () => giveBack(false),
        () => giveBack(true),
      );
  }
}

async function openSnapshot(
  connection: Connection,
  idleTimeoutMs: number,
  opening: readonly string[],
): Promise<OpenedRows> {
  const begin = beginStatement({
    isolation: 'repeatable read',
    readOnly: true,
    statementTimeoutMs: 0,
    idleTimeoutMs,
  });
  const found: unknown = await connection.query([begin, ...opening].join('; '));
  // The driver returns a list with one result per statement, because the text has several statements.
  const results = found as readonly pg.QueryResult[];
  return results.slice(results.length - opening.length).map(({ rows }): readonly unknown[] => rows);
}

function bytesRead({ connection }: Connection): number {
  const { stream } = connection;
  return 'bytesRead' in stream && typeof stream.bytesRead === 'number' ? stream.bytesRead : 0;
}

function once(work: (isBroken: boolean) => void): (isBroken: boolean) => void {
  let isDone = false;
  return (isBroken) => {
    if (!isDone) work(isBroken);
    isDone = true;
  };
}

class BrokenConnectionError extends Error {}

/** Closes a pool. Waits at most 2 s, because an unresponsive connection must not delay a shutdown. */
export async function closeDatabase(database: Database): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
  });
  await Promise.race([database.end(), timeout]);
  clearTimeout(timer);
}

function beginStatement({ isolation = 'read committed', readOnly = false, ...options }: TransactionOptions): string {
  const timeoutMs = options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS;
  const access = readOnly ? 'read only' : 'read write';
  const idle =
    options.idleTimeoutMs === undefined
      ? ''
      : `; set local idle_in_transaction_session_timeout = ${Math.trunc(options.idleTimeoutMs)}`;
  const gate = isolation === 'repeatable read' ? ENTER_SNAPSHOT : '';
  return `begin isolation level ${isolation} ${access}; set local statement_timeout = ${Math.trunc(timeoutMs)}${idle}${gate}`;
}
