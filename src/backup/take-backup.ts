/**
 * Backups of a running database: `takeBackup` backs up the cluster with pg_basebackup, `archiveWal` stores the WAL
 * with pg_receivewal. The role of DATABASE_URL must have the attribute REPLICATION or be a superuser.
 * Both functions reach the server only through database connections, not through its files.
 */

import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Queryable } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import { parseJsonText } from '../platform/json/json-text.ts';
import {
  type Backup,
  CLUSTER_FOLDER,
  claimDirectory,
  findOwner,
  listBackups,
  type Owner,
  UNFINISHED,
  WAL_FOLDER,
  writeFacts,
} from './backup-directory.ts';
import type { PostgresPrograms } from './postgres-programs.ts';
import { segmentName, segmentOf } from './wal-segments.ts';

/**
 * Name of the replication slot of the archive. For this slot, the server keeps WAL that is not archived yet, at most
 * max_slot_wal_keep_size.
 */
export const SLOT = 'tidemark_backup';

export interface BackupSource {
  readonly database: Queryable;
  readonly programs: PostgresPrograms;
}

export interface TakenBackup extends Backup {
  /**
   * Whether the replication slot of the archive kept WAL when the backup began. If not, only the end of the backup,
   * shortly before `restorableFrom`, is certain to be restorable.
   */
  readonly isArchived: boolean;
}

const manifestSchema = z.object({ 'WAL-Ranges': z.tuple([z.object({ 'Start-LSN': z.string() })]) });

const KEEPING_SLOT = `select from pg_replication_slots where slot_name = $1 and wal_status <> 'lost'`;

// `restorableFrom` is rounded up to the next millisecond, so that it is not before the end of the backup.
const FACTS = `
  select to_char((date_trunc('milliseconds', clock_timestamp()) + interval '1 ms') at time zone 'UTC',
                 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "restorableFrom",
         current_setting('server_version') as "postgresVersion",
         (select extversion from pg_extension where extname = 'timescaledb') as "timescaleVersion"`;

/**
 * Backs up the cluster into a new folder in `directory` and verifies the checksums of the backup.
 * @param keep number of backups to keep, including the new backup; undefined keeps all. Older backups are removed, with
 *   the WAL that no kept backup needs.
 * @throws {DomainError} conflict in these cases:
 * - `claimDirectory` refuses `directory`
 * - the role or the settings of the server do not allow replication
 * - pg_basebackup or pg_verifybackup is absent or fails
 * - `keep` is defined and the `backup.json` of a backup is damaged
 */
export async function takeBackup(
  { database, programs }: BackupSource,
  directory: string,
  keep?: number,
): Promise<TakenBackup> {
  const owner = await findOwner(database);
  await assertReplication(database);
  await claimDirectory(directory, owner);
  await removeUnfinished(directory);
  const { rowCount: slots } = await database.query(KEEPING_SLOT, [SLOT]);
  const folder = join(directory, `${UNFINISHED}${process.pid}`);
  const cluster = join(folder, CLUSTER_FOLDER);
  await mkdir(folder, { mode: 0o700 });
  try {
    // The backup has the default format, plain files, because pg_verifybackup 17 cannot read tar files. WAL is
    // streamed, so that the backup is complete without the WAL archive.
    const options = ['--wal-method=stream', '--checkpoint=fast', '--manifest-checksums=SHA256', '--no-password'];
    await programs.run('pg_basebackup', [`--pgdata=${cluster}`, ...options]);
    const { rows } = await database.query<Omit<Backup, 'name' | 'startSegment'>>(FACTS);
    const [stated] = rows;
    if (!stated) throw new Error('PostgreSQL did not return its time and version');
    await programs.run('pg_verifybackup', ['--exit-on-error', '--no-parse-wal', '--quiet', cluster]);
    const facts = { startSegment: await readStartSegment(cluster, owner), ...stated };
    await writeFacts(folder, facts);
    const name = facts.restorableFrom.replace(/[-:]/g, '');
    await rename(folder, join(directory, name));
    if (keep !== undefined) await removeOldBackups(directory, keep);
    return { ...facts, name, isArchived: slots === 1 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Archives WAL into `directory` until this process receives a stop signal; reconnects after a lost connection.
 * @throws {DomainError} conflict in these cases:
 * - `claimDirectory` refuses `directory`
 * - the role or the settings of the server do not allow replication
 * - pg_receivewal is absent, fails, or ends before a stop signal
 */
export async function archiveWal({ database, programs }: BackupSource, directory: string): Promise<void> {
  const owner = await findOwner(database);
  await assertReplication(database);
  await claimDirectory(directory, owner);
  await programs.run('pg_receivewal', ['--create-slot', '--if-not-exists', `--slot=${SLOT}`, '--no-password']);
  const target = `--directory=${join(directory, WAL_FOLDER)}`;
  // Without `synchronous`, pg_receivewal would flush WAL to disk only at the end of a segment.
  await programs.runUntilSignal('pg_receivewal', [target, `--slot=${SLOT}`, '--synchronous', '--no-password']);
}

const REPLICATION = `
  select quote_ident(rolname) as role, rolreplication or rolsuper as "mayReplicate",
         current_setting('wal_level') as "walLevel",
         current_setting('max_wal_senders')::int as senders
  from pg_roles where rolname = current_user`;

interface Replication {
  /** Name of the role of DATABASE_URL, quoted for SQL where necessary. */
  readonly role: string;
  readonly mayReplicate: boolean;
  readonly walLevel: string;
  readonly senders: number;
}

async function assertReplication(database: Queryable): Promise<void> {
  const { rows } = await database.query<Replication>(REPLICATION);
  const [found] = rows;
  if (!found) throw new Error('PostgreSQL did not return the attributes of the role of DATABASE_URL');
  if (!found.mayReplicate) {
    throw new DomainError(
      'conflict',
      `the role of DATABASE_URL must have the attribute REPLICATION; a superuser can grant it with \`alter role ${found.role} replication\``,
    );
  }
  if (found.walLevel === 'minimal' || found.senders < 3) {
    throw new DomainError(
      'conflict',
      `wal_level must be replica or logical, and max_wal_senders must be at least 3, got wal_level ${found.walLevel} and max_wal_senders ${found.senders}`,
    );
  }
}

async function readStartSegment(cluster: string, { timeline, segmentBytes }: Owner): Promise<string> {
  const manifest = manifestSchema.parse(parseJsonText(await readFile(join(cluster, 'backup_manifest'), 'utf8')));
  return segmentOf(manifest['WAL-Ranges'][0]['Start-LSN'], timeline, segmentBytes);
}

async function removeUnfinished(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.startsWith(UNFINISHED));
  for (const name of names) await rm(join(directory, name), { recursive: true, force: true });
}

/**
 * Removes all but the latest `keep` backups. Only then removes the WAL that no remaining backup needs, so that an
 * interruption leaves no backup without its WAL.
 */
async function removeOldBackups(directory: string, keep: number): Promise<void> {
  const backups = await listBackups(directory);
  for (const { name } of backups.slice(0, -keep)) {
    // The rename hides the backup before its files are removed, because `listBackups` must not list a partly removed
    // backup.
    const removed = join(directory, `${UNFINISHED}${name}`);
    await rename(join(directory, name), removed);
    await rm(removed, { recursive: true });
  }
  const [oldest] = backups.slice(-keep);
  const archive = join(directory, WAL_FOLDER);
  for (const file of await readdir(archive)) {
    const segment = segmentName(file);
    if (oldest && segment !== undefined && segment < oldest.startSegment) await rm(join(archive, file));
  }
}
