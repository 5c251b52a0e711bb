/**
 * Migrates the schema. Each `sql/migrations/NNNN_name.sql` runs once, in order, in its own transaction; a hash ensures
 * that it is not edited later. All `sql/functions/*.sql` run again whenever one of them or the version of TimescaleDB
 * changes. Several processes may call `migrate` at the same time: an advisory lock lets one migrate while others wait.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../log.ts';

const SQL_DIRECTORY = new URL('../../../sql/', import.meta.url);
const MIGRATION_LOCK_KEY = 0x7469_6465;
const FUNCTIONS_ENTRY = 'functions';

/**
 * Sets how a migration waits for locks. A statement that waits for an exclusive lock on a table delays every later
 * statement on that table, even reads. So each wait is short, and other statements run in the pauses between the waits.
 */
export interface LockPatience {
  readonly lockTimeoutMs: number;
  readonly pauseMs: number;
  readonly tries: number;
}

/** Default of `migrate`: all attempts, with the pauses between them, last at most about ten minutes. */
const LOCK_PATIENCE: LockPatience = { lockTimeoutMs: 2000, pauseMs: 4000, tries: 100 };
/** SQLSTATEs lock_not_available and deadlock_detected. */
const LOCK_FAILURES: ReadonlySet<string> = new Set(['55P03', '40P01']);

interface SqlFile {
  readonly name: string;
  readonly text: string;
  readonly hash: string;
}

/**
 * Migrates the database at `url` to the newest schema.
 * @throws {Error} in these cases:
 * - an applied migration was edited, or this version of Tidemark does not know it
 * - a migration does not get its locks in the attempts that `locks` allows
 * - the edition of TimescaleDB cannot read the points
 */
export async function migrate(url: string, log: Log, locks: LockPatience = LOCK_PATIENCE): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'tidemark-migrate',
  });
  // When the connection is lost, the query in flight rejects. Without a listener, the `error` event would also end the
  // process.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK_KEY]);
    await client.query(`create table if not exists schema_migration (
      name text primary key, hash text not null, applied_date timestamptz not null default now())`);
    const applied = await findApplied(client);
    const migrations = await readSqlFiles('migrations');
    assertHistory(migrations, applied);
    for (const file of migrations.filter(({ name }) => !applied.has(name))) await apply(client, file, log, locks);
    await applyFunctions(client, applied.get(FUNCTIONS_ENTRY), log, locks);
    await enableColumnstore(client, log);
  } finally {
    await client.end();
  }
}

async function findApplied(client: pg.Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; hash: string }>('select name, hash from schema_migration');
  return new Map(rows.map(({ name, hash }) => [name, hash]));
}

async function readSqlFiles(folder: 'migrations' | 'functions'): Promise<readonly SqlFile[]> {
  const directory = new URL(`${folder}/`, SQL_DIRECTORY);
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, directory), 'utf8');
      return { name, text, hash: sha256(text) };
    }),
  );
}

function assertHistory(migrations: readonly SqlFile[], applied: ReadonlyMap<string, string>): void {
  const known = new Map(migrations.map(({ name, hash }) => [name, hash]));
  for (const [name, hash] of applied) {
    if (name === FUNCTIONS_ENTRY) continue;
    if (!known.has(name))
      throw new Error(`the database has migration ${name}, which this version does not know; start a newer version`);
    if (known.get(name) !== hash)
      throw new Error(
        `sql/migrations/${name} differs from the migration that was applied; restore the file, and add a new migration for changes`,
      );
  }
}

async function apply(client: pg.Client, { name, text, hash }: SqlFile, log: Log, locks: LockPatience): Promise<void> {
  await withLocks(client, name, log, locks, async () => {
    await client.query(text);
    await client.query('insert into schema_migration (name, hash) values ($1, $2)', [name, hash]);
  });
  log.info({ migration: name }, 'migration applied');
}

async function applyFunctions(
  client: pg.Client,
  appliedHash: string | undefined,
  log: Log,
  locks: LockPatience,
): Promise<void> {
  const files = await readSqlFiles('functions');
  // The hash covers the version of TimescaleDB, because functions that read its catalogue depend on the version.
  const { rows } = await client.query<{ version: string }>(
    `select extversion as version from pg_extension where extname = 'timescaledb'`,
  );
  const hash = sha256([...files.map((file) => file.hash), rows[0]?.version].join());
  if (hash === appliedHash) return;
  await withLocks(client, FUNCTIONS_ENTRY, log, locks, async () => {
    for (const { text } of files) await client.query(text);
    await client.query(
      `insert into schema_migration (name, hash) values ($1, $2)
       on conflict (name) do update set hash = excluded.hash, applied_date = now()`,
      [FUNCTIONS_ENTRY, hash],
    );
  });
  log.info({ files: files.length }, 'functions applied');
}

const IS_UNREADABLE = `
  select coalesce(current_setting('timescaledb.license', true), 'apache') = 'apache'
         and exists (select from timescaledb_information.chunks where is_compressed) as "isUnreadable"`;

/**
 * Enables the columnstore for points when TimescaleDB has it (sql/functions/enable_columnstore.sql). A failure is only
 * logged, because points can stay uncompressed.
 * @throws {Error} when points are compressed and the edition cannot read compressed points.
 */
async function enableColumnstore(client: pg.Client, log: Log): Promise<void> {
  const { rows } = await client.query<{ isUnreadable: boolean }>(IS_UNREADABLE);
  if (rows[0]?.isUnreadable)
    throw new Error(
      'points are compressed, and only the Community edition of TimescaleDB reads them; start PostgreSQL with this edition and timescaledb.license = timescale',
    );
  try {
    await inTransaction(client, LOCK_PATIENCE.lockTimeoutMs, async () => {
      await client.query('select enable_columnstore()');
    });
  } catch (error) {
    log.warn(
      { err: error },
      'the columnstore could not be enabled, so points may stay uncompressed; the next run of migrate tries again',
    );
  }
}

/**
 * Runs `work` in a transaction. When another transaction holds a lock that `work` needs, pauses and runs `work` again.
 * @throws {Error} when `work` did not get its locks in `tries` attempts. Rethrows any other error of `work` at once.
 */
async function withLocks(
  client: pg.Client,
  name: string,
  log: Log,
  { lockTimeoutMs, pauseMs, tries }: LockPatience,
  work: () => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTransaction(client, lockTimeoutMs, work);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || !LOCK_FAILURES.has(error.code ?? '')) throw error;
      if (attempt === tries) {
        const rule = `the migration ${name} did not get its locks in ${tries} attempts of ${lockTimeoutMs} ms each`;
        throw new Error(`${rule}; end the long transactions that pg_stat_activity lists, then run migrate again`, {
          cause: error,
        });
      }
      log.warn(
        { migration: name, attempt, tries, err: error },
        'a migration could not get its locks; it will be retried after a pause',
      );
      await wait(pauseMs);
    }
  }
}

async function inTransaction(client: pg.Client, lockTimeoutMs: number, work: () => Promise<void>): Promise<void> {
  await client.query(`begin; set local lock_timeout = ${Math.trunc(lockTimeoutMs)}`);
  try {
    await work();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
