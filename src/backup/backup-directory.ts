/**
 * Layout of a backup directory: `tidemark-backups.json` identifies the cluster, and `wal/` holds the archived WAL.
 * Every folder named after an instant holds one backup, which consists of the folder `cluster/`, as pg_basebackup
 * wrote it, and the file `backup.json`.
 */

import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Queryable } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import { parseJsonText } from '../platform/json/json-text.ts';

export const WAL_FOLDER = 'wal';
export const CLUSTER_FOLDER = 'cluster';
/** Prefix of the folder names of unfinished and half-removed backups; the next backup deletes these folders. */
export const UNFINISHED = '.unfinished-';

const OWNER_FILE = 'tidemark-backups.json';
const BACKUP_FILE = 'backup.json';

const ownerSchema = z.object({
  /** PostgreSQL's identifier of the cluster; copies of the cluster have the same identifier. */
  systemIdentifier: z.string(),
  /** Timeline of the cluster's WAL; every restore starts a new timeline. */
  timeline: z.int(),
  /** Size of a WAL segment in bytes. */
  segmentBytes: z.int(),
});

/** The cluster whose backups a directory holds. */
export type Owner = z.output<typeof ownerSchema>;

const backupSchema = z.object({
  /** Name of the first WAL segment that a recovery from this backup reads. */
  startSegment: z.string(),
  /** Earliest instant, by the database's clock, to which this backup can be restored; ISO 8601, UTC. */
  restorableFrom: z.string(),
  postgresVersion: z.string(),
  timescaleVersion: z.string(),
});

export type BackupFacts = z.output<typeof backupSchema>;

export interface Backup extends BackupFacts {
  /** Name of the backup's folder in the backup directory. */
  readonly name: string;
}

const OWNER = `
  select (select system_identifier::text from pg_control_system()) as "systemIdentifier",
         ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as timeline,
         (select setting::int from pg_settings where name = 'wal_segment_size') as "segmentBytes"`;

/** @returns the identity of the cluster that a database belongs to. */
export async function findOwner(database: Queryable): Promise<Owner> {
  const { rows } = await database.query(OWNER);
  return ownerSchema.parse(rows[0]);
}

/**
 * If `directory` is absent or empty, makes it the backup directory of the cluster `owner`. Otherwise checks that it
 * already is the backup directory of this cluster.
 * @throws {DomainError} conflict when `readOwner` throws it, or when the directory belongs to another cluster or to
 * another timeline of this cluster.
 */
export async function claimDirectory(directory: string, owner: Owner): Promise<void> {
  const names = await readdir(directory).catch((): string[] => []);
  // A killed process may have left the temporary file of `writeWhole`.
  if (names.every((name) => name === newOf(OWNER_FILE))) {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeWhole(join(directory, OWNER_FILE), owner);
  }
  const found = await readOwner(directory);
  if (found.systemIdentifier !== owner.systemIdentifier) {
    throw new DomainError('conflict', `${directory} holds backups of another database; choose an empty directory`);
  }
  if (found.timeline !== owner.timeline) {
    throw new DomainError(
      'conflict',
      `${directory} holds backups taken before this database was restored or failed over, or backups of a restored copy of this database; ` +
        'choose an empty directory',
    );
  }
  await mkdir(join(directory, WAL_FOLDER), { recursive: true, mode: 0o700 });
}

/**
 * @returns the cluster whose backups a directory holds.
 * @throws {DomainError} conflict when the `tidemark-backups.json` of the directory is missing, unreadable or damaged.
 */
export async function readOwner(directory: string): Promise<Owner> {
  const path = join(directory, OWNER_FILE);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text !== undefined) return parseFile(ownerSchema, path, text);
  const advice =
    'choose a directory that the command `backup` wrote; the commands `backup` and `archive` also accept an empty directory';
  throw new DomainError(
    'conflict',
    `${directory} is not a backup directory: it has no readable ${OWNER_FILE}; ${advice}`,
  );
}

/**
 * @returns the finished backups of a directory, oldest first.
 * @throws {DomainError} conflict when the `backup.json` of a backup is damaged.
 */
export async function listBackups(directory: string): Promise<readonly Backup[]> {
  const names = (await readdir(directory)).filter((name) => name !== WAL_FOLDER && !name.startsWith(UNFINISHED));
  const backups = await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name, BACKUP_FILE);
      const text = await readFile(path, 'utf8').catch(() => undefined);
      return text === undefined ? [] : [{ ...parseFile(backupSchema, path, text), name }];
    }),
  );
  return backups.flat().sort((a, b) => (a.restorableFrom < b.restorableFrom ? -1 : 1));
}

function parseFile<Schema extends z.ZodType>(schema: Schema, path: string, text: string): z.output<Schema> {
  try {
    return schema.parse(parseJsonText(text));
  } catch (error) {
    const reason = error instanceof z.ZodError ? error.issues.map(describeIssue).join(', ') : (error as Error).message;
    throw new DomainError('conflict', `${path} is damaged (${reason}); replace it with an undamaged copy`);
  }
}

const describeIssue = ({ path, message }: z.core.$ZodIssue): string => `${path.join('.') || 'the file'}: ${message}`;

/** Writes `backup.json` into the folder of an unfinished backup. */
export async function writeFacts(folder: string, facts: BackupFacts): Promise<void> {
  await writeWhole(join(folder, BACKUP_FILE), facts);
}

/** @returns the time when WAL last arrived in the archive, in ms since 1970; undefined when the archive is empty. */
export async function findArchivedUntilMs(directory: string): Promise<number | undefined> {
  const folder = join(directory, WAL_FOLDER);
  const names = (await readdir(folder).catch(() => [])).sort();
  const last = names.at(-1);
  return last === undefined ? undefined : (await stat(join(folder, last))).mtimeMs;
}

const newOf = (path: string): string => `${path}.new`;

async function writeWhole(path: string, value: unknown): Promise<void> {
  await writeFile(newOf(path), `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
  await rename(newOf(path), path);
}
