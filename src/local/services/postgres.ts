/**
 * TimescaleDB of one stack. Its directory is initialised on first use and kept across starts; the processes of the
 * server hold a lock on this directory (see lock.ts). Under bwrap, the server is process 1 of its PID namespace, so it
 * mistakes the `postmaster.pid` of a killed server for its own; only the lock prevents two servers on one directory.
 */
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { SetupError } from '../setup-error.ts';
import { isRoot, type LauncherKind, launch, prepareState, runToEnd, SERVICE_ID, type State } from './launcher.ts';
import { findFreePort } from './ports.ts';
import { awaitService, type Service, type StackServiceOptions, withLog } from './service.ts';

/** Directory of PostgreSQL's programs inside the database root file system. */
export const POSTGRES_PROGRAMS = '/usr/lib/postgresql/17/bin';
export const SUPERUSER = 'tidemark';

const WRONG_PASSWORD = '28P01';
const MEBIBYTE = 1 << 20;
const READY_TIMEOUT_MS = 600_000;
const STOP_TIMEOUT_MS = 30_000;

/**
 * Starts the server.
 * @returns the service, with the URL of the database `postgres`.
 * @throws {Error} when it cannot be started.
 */
export async function startPostgres(options: StackServiceOptions): Promise<Service> {
  const state = prepareState(options.launcher, options.root, options.directory);
  await initialise(options, state);
  const port = await findFreePort(options.wantedPort);
  const program = withLog(options.logFile, (output) =>
    launch(options.launcher, { ...options, state, output, argv: serverArguments(options, state, port) }),
  );
  const url = `postgres://${SUPERUSER}:${options.password}@127.0.0.1:${port}/postgres`;
  return awaitService({
    name: 'TimescaleDB',
    url,
    program,
    logFile: options.logFile,
    stopSignal: 'SIGINT',
    stopTimeoutMs: STOP_TIMEOUT_MS,
    readyTimeoutMs: READY_TIMEOUT_MS,
    probe: () => probe(url),
  });
}

/**
 * Creates the cluster under another name and renames it, so that an interrupted initdb leaves no incomplete cluster.
 */
async function initialise(options: StackServiceOptions, state: State): Promise<void> {
  const cluster = join(state.hostPath, 'cluster');
  if (existsSync(cluster)) return;
  const suffix = randomBytes(4).toString('hex');
  const unfinished = join(state.hostPath, `unfinished-${suffix}`);
  const passwordFile = join(state.hostPath, `password-${suffix}`);
  writeFileSync(passwordFile, options.password, { mode: 0o600 });
  if (isRoot()) chownSync(passwordFile, SERVICE_ID, SERVICE_ID);
  const inner = (path: string) => path.replace(state.hostPath, state.innerPath);
  try {
    await runToEnd(options.launcher, {
      ...options,
      state,
      argv: [
        `${POSTGRES_PROGRAMS}/initdb`,
        ...['--pgdata', inner(unfinished), '--username', SUPERUSER, '--pwfile', inner(passwordFile)],
        ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C.UTF-8'],
        ...(options.isDurable ? [] : ['--no-sync']),
      ],
    });
    renameSync(unfinished, cluster);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function serverArguments(options: StackServiceOptions, state: State, port: number): readonly string[] {
  const settings = { ...commonSettings(options.launcher, port), ...(options.isDurable ? DURABLE : VOLATILE) };
  return [
    `${POSTGRES_PROGRAMS}/postgres`,
    ...['-D', `${state.innerPath}/cluster`],
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

/**
 * Settings sized for a developer's machine: shared buffers are a sixteenth of the machine's memory, but at least
 * 128 MiB and at most 1 GiB.
 */
function commonSettings(launcher: LauncherKind, port: number): Readonly<Record<string, string>> {
  const sharedMebibytes = Math.max(128, Math.min(1024, Math.floor(totalmem() / MEBIBYTE / 16)));
  return {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '200',
    // A write with dates in many chunks needs thousands of locks: one per chunk and one per index of a chunk. All
    // connections share max_connections times max_locks_per_transaction locks.
    max_locks_per_transaction: '512',
    shared_preload_libraries: 'timescaledb',
    'timescaledb.telemetry_level': 'off',
    // Tidemark uses no background jobs of TimescaleDB. Connections of background workers would prevent creating a
    // database from a template.
    'timescaledb.max_background_workers': '0',
    shared_buffers: `${sharedMebibytes}MB`,
    work_mem: '32MB',
    maintenance_work_mem: '256MB',
    random_page_cost: '1.1',
    jit: 'off',
    log_line_prefix: '%m [%p] %d ',
    timezone: 'UTC',
    // A chroot has no /dev/shm.
    dynamic_shared_memory_type: launcher === 'chroot' ? 'mmap' : 'posix',
  };
}

/**
 * WAL senders stay enabled, because backups need them. `max_slot_wal_keep_size` limits the WAL that the server keeps
 * for the archive; without this limit, the WAL would fill the disk when archiving stops.
 */
const DURABLE = {
  max_slot_wal_keep_size: '4GB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  wal_compression: 'lz4',
} as const;

const VOLATILE = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '2GB',
  autovacuum_naptime: '10min',
} as const;

/** Creates `database` on the server of `serverUrl` if it is missing. @returns the URL of the database. */
export async function ensureDatabase(serverUrl: string, database: string): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(database)}`);
  } finally {
    await client.end();
  }
  return withDatabase(serverUrl, database);
}

/** @returns the URL of another database on the same server. */
export function withDatabase(url: string, database: string): string {
  return Object.assign(new URL(url), { pathname: `/${database}` }).toString();
}

async function probe(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.end();
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== WRONG_PASSWORD) throw error;
    throw new SetupError(
      'the stored data were created with a password other than the one in .local/secrets.json; restore the secrets.json that belongs to the data, or remove the data with `npm run reset`.',
    );
  }
}
