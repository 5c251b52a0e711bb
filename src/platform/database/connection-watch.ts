/**
 * Closes dead connections. A connection is dead when the network drops every byte, although the connection is still
 * open. Without this watch, a query on a dead connection can wait without end.
 *
 * - A connection is suspected when its query has moved no byte for SUSPECT_MS.
 * - A probe then asks the server, on a new connection, for the state of the session (pg_stat_activity).
 * - If two probes in succession show that the session does not work on the query, the watch destroys the connection.
 * - If no probe is answered for UNREACHABLE_MS, the watch destroys all suspected connections.
 * - In both cases, the watch also destroys the idle connections, because they use the same network path.
 *
 * The query on a destroyed connection fails with an error that `isDependencyError` recognises.
 */
import pg from 'pg';
import type { Log } from '../log.ts';

/** A connection with a query in flight is suspected to be dead after this long without a byte. */
const SUSPECT_MS = 3000;
const LOOK_INTERVAL_MS = 1000;
const PROBE_TIMEOUT_MS = 2000;
/**
 * During a COPY into the database, the client sends bytes continuously. When a session has waited this number of
 * milliseconds without a byte, its client counts as lost.
 */
const CLIENT_READ_MS = 15_000;
/** When no probe has been answered for this long, all suspected connections and all idle connections are closed. */
const UNREACHABLE_MS = 8000;
const REPORTS_NEEDED = 2;
const TOO_MANY_CONNECTIONS = '53300';

const PROBE = `
  select pid, state, wait_event_type = 'Client' and wait_event = 'ClientRead' as "awaitsClient"
  from pg_stat_activity where pid = any($1::int[])`;

interface SessionReport {
  readonly pid: number;
  readonly state: string | null;
  readonly awaitsClient: boolean | null;
}

/** State of a connection at the last check. */
interface Watched {
  bytes: number;
  /**
   * Start of the current silence, as a value of `performance.now()`. A check sets the start to the current time when
   * bytes have moved since the previous check, or when no query is in flight.
   */
  sinceMs: number;
  reports: number;
}

/** The reason that the log gives for closing connections. */
interface Why {
  readonly reason: string;
  /** Error of the last probe; absent when the probe succeeded. */
  readonly err?: unknown;
}

/** Members that the driver's client has, but the driver's types do not declare. */
interface ClientState {
  readonly processID: number | null;
  readonly readyForQuery: boolean;
}

export interface ConnectionWatch {
  stop(): void;
}

/** Starts watching the connections of a pool. The watch does not keep the process alive. */
export function watchConnections(pool: pg.Pool, connectionString: string, log: Log): ConnectionWatch {
  const connections = new Map<pg.PoolClient, Watched>();
  pool.on('connect', (client) => connections.set(client, { bytes: 0, sinceMs: performance.now(), reports: 0 }));
  pool.on('remove', (client) => connections.delete(client));
  let unreachableSinceMs: number | undefined;
  let isProbing = false;

  const close = (suspects: readonly pg.PoolClient[], why: Why): void => {
    const idle = [...connections.keys()].filter((client) => stateOf(client).readyForQuery);
    const message =
      'unresponsive database connections were closed; their queries fail; later queries open new connections';
    log.warn({ ...why, connections: suspects.length, idle: idle.length }, message);
    for (const client of [...suspects, ...idle]) destroyConnection(client);
  };
  const judge = (suspects: readonly pg.PoolClient[], reports: readonly SessionReport[]): void => {
    const now = performance.now();
    const dead = suspects.filter((client) => {
      const watched = connections.get(client);
      if (!watched) return false;
      const report = reports.find(({ pid }) => pid === stateOf(client).processID);
      const isStarved = report?.awaitsClient === true && now - watched.sinceMs > CLIENT_READ_MS;
      watched.reports = report?.state === 'active' && !isStarved ? 0 : watched.reports + 1;
      return watched.reports >= REPORTS_NEEDED;
    });
    const reason = 'according to the database server, no session is processing the unanswered queries';
    if (dead.length > 0) close(dead, { reason });
  };
  const probe = async (suspects: readonly pg.PoolClient[]): Promise<void> => {
    try {
      const reports = await askServer(
        connectionString,
        suspects.map((client) => stateOf(client).processID ?? 0),
      );
      unreachableSinceMs = undefined;
      // Keeps only connections that are still silent: an answer may have arrived during the probe.
      const silent = findSilent(connections);
      judge(
        suspects.filter((client) => silent.includes(client)),
        reports,
      );
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === TOO_MANY_CONNECTIONS) return;
      unreachableSinceMs ??= performance.now();
      if (performance.now() - unreachableSinceMs > UNREACHABLE_MS) {
        const reason = `for ${UNREACHABLE_MS / 1000} s, every query on a new connection has failed`;
        close(findSilent(connections), { reason, err: error });
        unreachableSinceMs = undefined;
      }
    }
  };
  const timer = setInterval(() => {
    const suspects = findSilent(connections);
    if (suspects.length === 0) unreachableSinceMs = undefined;
    if (suspects.length === 0 || isProbing) return;
    isProbing = true;
    void probe(suspects).finally(() => {
      isProbing = false;
    });
  }, LOOK_INTERVAL_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/**
 * Destroys a connection. The server notices the closed connection and ends the running statement (SESSION_OPTIONS in
 * database.ts).
 */
export function destroyConnection(client: pg.PoolClient): void {
  client.connection.stream.destroy();
}

/**
 * Finds the connections that have a query in flight and have moved no byte for SUSPECT_MS. Resets the state of the
 * connections that have moved bytes or have no query in flight.
 */
function findSilent(connections: ReadonlyMap<pg.PoolClient, Watched>): readonly pg.PoolClient[] {
  const now = performance.now();
  return [...connections].flatMap(([client, watched]) => {
    const bytes = countBytes(client);
    if (bytes !== watched.bytes || stateOf(client).readyForQuery) {
      Object.assign(watched, { bytes, sinceMs: now, reports: 0 });
      return [];
    }
    return now - watched.sinceMs > SUSPECT_MS ? [client] : [];
  });
}

async function askServer(connectionString: string, pids: readonly number[]): Promise<readonly SessionReport[]> {
  const client = new pg.Client({
    connectionString,
    application_name: 'tidemark-connection-watch',
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
    query_timeout: PROBE_TIMEOUT_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<SessionReport>(PROBE, [pids])).rows;
  } finally {
    // Does not wait until the server closes the connection, because the server might never close it.
    void client.end().catch(() => {});
    setTimeout(() => destroyConnection(client as unknown as pg.PoolClient), PROBE_TIMEOUT_MS).unref();
  }
}

function stateOf(client: pg.PoolClient): ClientState {
  return client as unknown as ClientState;
}

function countBytes({ connection }: pg.PoolClient): number {
  const { stream } = connection as unknown as { stream: { bytesRead?: number; bytesWritten?: number } };
  return (stream.bytesRead ?? 0) + (stream.bytesWritten ?? 0);
}
