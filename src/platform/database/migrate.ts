/**
 * Migrates the schema: each `sql/migrations/NNNN_name.sql` runs once, in order, in its own transaction, and is frozen by its
 * hash; all `sql/functions/*.sql` run again whenever one changes. Several processes may call it at once: an advisory lock
 * lets one migrate while the others wait.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import type { Log } from '../log.ts';

const SQL_DIRECTORY = new URL('../../../sql/', import.meta.url);
const MIGRATION_LOCK_KEY = 0x7469_6465;
const FUNCTIONS_ENTRY = 'functions';

interface SqlFile {
  readonly name: string;
  readonly text: string;
  readonly hash: string;
}

/**
 * Migrates the database at `url` to the newest schema.
 * @throws {Error} when an applied migration was edited, or the database has a migration this version does not know.
 */
export async function migrate(url: string, log: Log): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'tidemark-migrate',
  });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK_KEY]);
    await client.query(`create table if not exists schema_migration (
      name text primary key, hash text not null, applied_date timestamptz not null default now())`);
    const applied = await findApplied(client);
    const migrations = await readSqlFiles('migrations');
    assertHistory(migrations, applied);
    for (const file of migrations.filter(({ name }) => !applied.has(name))) await apply(client, file, log);
    await applyFunctions(client, applied.get(FUNCTIONS_ENTRY), log);
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
      throw new Error(`migration ${name} must not change after it was applied; add a new migration instead`);
  }
}

async function apply(client: pg.Client, { name, text, hash }: SqlFile, log: Log): Promise<void> {
  await inTransaction(client, async () => {
    await client.query(text);
    await client.query('insert into schema_migration (name, hash) values ($1, $2)', [name, hash]);
  });
  log.info({ migration: name }, 'migration applied');
}

async function applyFunctions(client: pg.Client, appliedHash: string | undefined, log: Log): Promise<void> {
  const files = await readSqlFiles('functions');
  const hash = sha256(files.map((file) => file.hash).join());
  if (hash === appliedHash) return;
  await inTransaction(client, async () => {
    for (const { text } of files) await client.query(text);
    await client.query(
      `insert into schema_migration (name, hash) values ($1, $2)
       on conflict (name) do update set hash = excluded.hash, applied_date = now()`,
      [FUNCTIONS_ENTRY, hash],
    );
  });
  log.info({ files: files.length }, 'functions applied');
}

/** Compresses old points where the TimescaleDB edition supports it (sql/functions/enable_columnstore.sql). Optional: a failure is logged. */
async function enableColumnstore(client: pg.Client, log: Log): Promise<void> {
  try {
    await inTransaction(client, async () => {
      await client.query('select enable_columnstore()');
    });
  } catch (error) {
    log.warn({ err: error }, 'the columnstore could not be enabled; old points stay uncompressed');
  }
}

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
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
