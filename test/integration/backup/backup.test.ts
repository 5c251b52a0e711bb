/**
 * Tests backups and restores. The tests run PostgreSQL's own programs on database clusters that no other test file
 * uses.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backupCommands } from '../../../src/backup/backup-commands.ts';
import { postgresPrograms } from '../../../src/backup/postgres-programs.ts';
import { takeBackup } from '../../../src/backup/take-backup.ts';
import { readConfig } from '../../../src/config.ts';
import { ingestAccount } from '../../../src/ingest/ingest-account.ts';
import { ensureDatabase } from '../../../src/local/services/postgres.ts';
import { type Database, openDatabase } from '../../../src/platform/database/database.ts';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { createLog } from '../../../src/platform/log.ts';
import { startApi } from '../../../src/roles/api-role.ts';
import { listenHttp } from '../../../src/roles/http-listener.ts';
import { startIngesterRole } from '../../../src/roles/ingester-role.ts';
import { openParts } from '../../../src/roles/parts.ts';
import { eventually } from '../../support/eventually.ts';
import { type ApiClient, signIn } from '../../support/fixtures/sign-in.ts';
import { createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';
import { createStoredWorld, type StoredWorld } from '../../support/fixtures/world.ts';
import { keepInColumns } from '../../support/services/columns.ts';
import { makeOwnClusters, type OwnCluster, type OwnClusters } from '../../support/services/own-cluster.ts';
import type { RoleEnvironment } from '../../support/services/role-process.ts';
import { createTestQueuePrefix } from '../../support/services/stack.ts';

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const LOG = createLog('silent', 'test');
const DAY = Date.UTC(2026, 2, 1);
const ARCHIVED = `
  select count(*) > 0 as "isArchived" from pg_stat_replication
  where application_name = 'tidemark-backup' and flush_lsn >= pg_current_wal_flush_lsn()`;

let clusters: OwnClusters;
let source: OwnCluster;
let world: StoredWorld;
let api: ApiClient;
let roles: RunningRoles;
let archive: ChildProcess;
let variableId: number;
/** An instant between the last two pushes: the first of the two had been accepted by then, but not ingested. */
let instant: string;
/** Output lines of two runs of the command `backup`. Between the two runs, the command `archive` was started. */
let printed: readonly string[];
/**
 * True when the points in the backup are compressed. Compression needs the Community edition of TimescaleDB
 * (TIMESCALEDB_BUILD).
 */
let hasColumns = false;
const backups = () => join(clusters.directory, 'backups');

beforeAll(async () => {
  clusters = await makeOwnClusters();
  source = await clusters.start('source');
  const url = await ensureDatabase(source.serverUrl, 'tidemark');
  await migrate(url, createLog('error', 'test'));
  world = await createStoredWorld({ url, drop: async () => {} });
  [roles, printed] = await Promise.all([startRoles(world.environment), admin('backup', backups())]);
  archive = startArchive(url);
  api = await signIn(roles.http);
  variableId = await createVariable(api, (await createSiteAndSource(api)).sourceId);
  await push(hours(1, 24));
  await ingest();
  await eventually('the archive', () => admin('backups', backups()));
  printed = [...printed, ...(await admin('backup', backups(), '--keep', '1'))];
  await push(hours(101, 2));
  await ingest();
  // Ends the WAL segment, so that the archive has more than one segment.
  await world.database.query('select pg_switch_wal()');
  await push([{ date: new Date(DAY + 30 * 3_600_000).toISOString(), value: 31 }]);
  instant = await readClock(world.database);
  await push(hours(201, 1));
  await eventually('the archive', async () => (await world.database.query(ARCHIVED)).rows[0]?.isArchived === true);
}, 60_000);
afterAll(async () => {
  archive?.kill();
  await roles?.stop();
  await world?.close();
  await clusters?.clear();
});

const hours = (firstValue: number, count: number) =>
  Array.from({ length: count }, (_, hour) => ({
    date: new Date(DAY + hour * 3_600_000).toISOString(),
    value: firstValue + hour,
  }));
const push = (data: readonly object[]) => api.call('POST', '/api/data', [{ variableId, data }]);

/** Ingests accepted pushes, and compresses the chunks if the edition of TimescaleDB supports compression. */
async function ingest(): Promise<void> {
  while ((await ingestAccount(world.database, world.accountId, 1000)) > 0);
  const { rows } = await world.database.query(`select current_setting('timescaledb.license') as license`);
  hasColumns = rows[0]?.license === 'timescale';
  if (!hasColumns) return;
  const columns = await keepInColumns(source.databaseUrl);
  await columns.compress();
  await columns.stop();
}

async function countColumnChunks(database: Database): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `select count(*)::int as count from timescaledb_information.chunks where is_compressed`,
  );
  return rows[0]?.count ?? 0;
}

async function readClock(database: Database): Promise<string> {
  const { rows } = await database.query<{ now: string }>('select clock_timestamp() as now');
  return rows[0]?.now ?? '';
}

interface RunningRoles {
  readonly http: string;
  stop(): Promise<void>;
}

/** Starts the role `api` in this process; with `withIngester`, also starts the role `ingester` in this process. */
async function startRoles(environment: RoleEnvironment, { withIngester = false } = {}): Promise<RunningRoles> {
  const listener = await listenHttp('127.0.0.1', 0);
  const config = readConfig({ ...environment, HTTP_PORT: String(listener.port) });
  const parts = openParts(config, LOG);
  const roles = [...(withIngester ? [startIngesterRole(parts)] : []), await startApi(parts, listener)];
  const stop = async () => {
    for (const role of roles.toReversed()) await role.stop();
    await parts.close();
  };
  return { http: `http://127.0.0.1:${listener.port}`, stop };
}

/** Starts the command `archive` as an operator does. */
function startArchive(url: string): ChildProcess {
  const environment = { ...world.environment, DATABASE_URL: url, PATH: clusters.path };
  return spawn(process.execPath, [MAIN, 'admin', 'archive', backups()], { env: environment, stdio: 'ignore' });
}

const programs = () => postgresPrograms(source.databaseUrl, { PATH: clusters.path });

/** @returns the lines that the command prints. */
async function admin(name: 'backup' | 'backups' | 'restore', ...words: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  const parts = { database: world.database, programs: programs() };
  const commands = backupCommands({ ...parts, print: (line) => void lines.push(line) });
  const option = words.findIndex((word) => word.startsWith('--'));
  const [operands, [flag = '--', value]] = option < 0 ? [words, []] : [words.slice(0, option), words.slice(option)];
  await commands[name](operands, { [flag.slice(2)]: value });
  return lines;
}

describe('backup', () => {
  it.concurrent('a restore to an instant keeps the writes answered before the instant, and drops later writes (R-D1)', async () => {
    const target = clusters.locate('restored');
    const lines = await admin('restore', backups(), target, '--to', instant);
    expect(lines.join(' ')).toMatch(/recovers all transactions committed up to 2\S+Z, then accepts connections/);
    const { databaseUrl } = await clusters.start('restored');
    expect(readdirSync(target)).not.toContain('recovery_wal');
    await withDatabase(databaseUrl, async (database) => {
      expect((await countColumnChunks(database)) > 0).toBe(hasColumns);
      // A backup of the restored cluster into the old backup directory would mix two histories.
      await expect(takeBackup({ database, programs: programs() }, backups())).rejects.toThrow(
        'taken before this database was restored',
      );
    });
    // A new queue prefix acts like an empty Redis, because no job has this prefix.
    const environment = { ...world.environment, QUEUE_PREFIX: createTestQueuePrefix(), DATABASE_URL: databaseUrl };
    const restored = await startRoles(environment, { withIngester: true });
    const client = await signIn(restored.http);
    const values = () => readValues(client);
    // At `instant`, the push of the value 31 had been accepted but not ingested. The sweeper finds this push.
    await eventually('the accepted push', async () => (await values()).includes(31));
    expect(await values()).toEqual([101, 102, ...Array.from({ length: 22 }, (_, hour) => 3 + hour), 31]);
    await restored.stop();
  });

  it.concurrent('restores up to the last archived push when no instant is given (R-D1)', async () => {
    await admin('restore', backups(), clusters.locate('newest'));
    const { databaseUrl } = await clusters.start('newest');
    await withDatabase(databaseUrl, async (database) => {
      expect((await database.query('select from push_batch')).rowCount).toBe(2);
    });
  });

  it('lists the instants that each backup can restore, and deletes all but the requested number of backups (R-D1)', async () => {
    expect(printed).toEqual([
      expect.stringMatching(/^backup 2\S+Z is complete and verified$/),
      expect.stringMatching(
        /^restorable only to its end, shortly before 2\S+Z, because no WAL is archived: run `restore` without --to while/,
      ),
      expect.stringMatching(/^backup 2\S+Z is complete and verified$/),
      expect.stringMatching(/^restorable to 2\S+Z and to every later instant that the archived WAL covers$/),
    ]);
    const folders = readdirSync(backups()).filter((name) => /^2/.test(name));
    expect(folders).toHaveLength(1);
    expect(printed[2]).toBe(`backup ${folders[0]} is complete and verified`);
    const lines = await admin('backups', backups());
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(
      /^2\S+Z: restorable to the instants from 2\S+Z on that the archived WAL covers without a gap; PostgreSQL 17\.\d+.*, TimescaleDB 2\./,
    );
    expect(lines[1]).toMatch(/^WAL is archived up to about 2\S+Z; WAL not archived yet: \d+ kB$/);
  });

  it('refuses a wrong backup directory, and a restore target that has files or is still in use', async () => {
    const foreign = join(clusters.directory, 'foreign');
    mkdirSync(foreign);
    writeFileSync(join(foreign, 'letter.txt'), 'private');
    await expect(admin('backup', foreign)).rejects.toThrow('is not a backup directory: it has no');
    await expect(admin('restore', foreign, join(clusters.directory, 'none'))).rejects.toThrow(
      'is not a backup directory',
    );
    await expect(admin('restore', backups(), foreign)).rejects.toThrow('must be absent or empty; move its contents');
    await expect(admin('restore', backups(), clusters.locate('source'))).rejects.toThrow(
      'so a PostgreSQL server may still use this directory',
    );
    await expect(admin('restore', backups())).rejects.toThrow('the command needs DIR and TARGET');
  });

  it('refuses a database role without the attribute REPLICATION; the error has the statement that grants this attribute', async () => {
    await withDatabase(source.databaseUrl, async (database) => {
      await database.query('create role "Plain role"');
      await database.query('set role "Plain role"');
      await expect(takeBackup({ database, programs: programs() }, backups())).rejects.toThrow(
        'with `alter role "Plain role" replication`',
      );
    });
  });

  it('refuses a restore when the value of --to is not an instant, or is an instant before the oldest backup or after the end of the archive', async () => {
    const restoreTo = (text: string) => admin('restore', backups(), join(clusters.directory, 'none'), '--to', text);
    await expect(restoreTo('yesterday')).rejects.toThrow('--to must be an instant such as');
    await expect(restoreTo('2020-01-01T00:00:00Z')).rejects.toThrow(
      'must not be before the end of the oldest backup, 2',
    );
    await expect(restoreTo('2200-01-01T00:00:00Z')).rejects.toThrow('must not be after the archived WAL');
    expect(readdirSync(clusters.directory)).not.toContain('none');
  });

  it('refuses to restore from an archive with a gap, and from a backup that was changed', async () => {
    const other = join(clusters.directory, 'damaged');
    cpSync(backups(), other, { recursive: true, preserveTimestamps: true });
    const restore = () => admin('restore', other, join(clusters.directory, 'none'), '--to', instant);
    const [folder = ''] = readdirSync(other).filter((name) => /^2/.test(name));
    appendFileSync(join(other, folder, 'cluster/global/pg_filenode.map'), 'x');
    await expect(restore()).rejects.toThrow(/pg_verifybackup ended with exit code 1:\n.*pg_filenode.map/);
    const segments = readdirSync(join(other, 'wal')).sort();
    rmSync(join(other, 'wal', segments.at(-2) ?? ''));
    const missing = /WAL segment 0\w+ is missing in \S+\/damaged\/wal; add the segment/;
    await expect(restore()).rejects.toThrow(missing);
    await expect(admin('restore', other, join(clusters.directory, 'none'))).rejects.toThrow(missing);
    expect(readdirSync(clusters.directory)).not.toContain('none');
  });

  it('SIGTERM ends the command `archive` with exit code 0; the command `backups` then fails, because no process archives WAL', async () => {
    archive.kill('SIGTERM');
    expect(await once(archive, 'exit')).toEqual([0, null]);
    await expect(admin('backups', backups())).rejects.toThrow('nothing archives WAL at the moment');
  });

  it('the command `backups` fails without the replication slot of the archive; it also fails with a new slot while no process archives WAL', async () => {
    await world.database.query(`select pg_drop_replication_slot('tidemark_backup')`);
    await expect(admin('backups', backups())).rejects.toThrow('the database has no replication slot tidemark_backup');
    await world.database.query(`select pg_create_physical_replication_slot('tidemark_backup')`);
    await expect(admin('backups', backups())).rejects.toThrow('nothing archives WAL at the moment');
  });

  it('when `synchronous_standby_names` names the archive, the service answers a push only after the archive has received it (R-D1)', async () => {
    const query = async (text: string) => (await world.database.query(text)).rowCount === 1;
    const set = async (assignment: string) => {
      await query(`alter system ${assignment}`);
      await query('select pg_reload_conf()');
    };
    await set(`set synchronous_standby_names = '"tidemark-backup"'`);
    await eventually('the setting', () => query(`select where current_setting('synchronous_standby_names') <> ''`));
    let isAnswered = false;
    const pushing = push(hours(301, 1)).then(() => {
      isAnswered = true;
    });
    await eventually('a waiting commit', () => query(`select from pg_stat_activity where wait_event = 'SyncRep'`));
    expect(isAnswered).toBe(false);
    archive = startArchive(source.databaseUrl);
    await pushing;
    expect(await query(`select from pg_stat_replication where sync_state = 'sync'`)).toBe(true);
    await set('reset synchronous_standby_names');
  });
});

async function readValues(client: ApiClient): Promise<readonly number[]> {
  const path = `/data?variableId=${variableId}&from=2026-03-01T00:00:00Z`;
  return (await client.call<{ rawValue: number }[]>('GET', path)).map(({ rawValue }) => rawValue);
}

async function withDatabase(url: string, work: (database: Database) => Promise<void>): Promise<void> {
  const database = openDatabase({ url, poolSize: 1, applicationName: 'test', log: LOG });
  await work(database).finally(() => database.end());
}
