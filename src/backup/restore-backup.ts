/**
 * Restores a backup into an absent or empty directory. Prepares files only: the cluster of the backup, the archived WAL
 * in a folder of this cluster, and recovery settings. When PostgreSQL is started on the directory, it recovers to the
 * requested instant, and then accepts connections.
 */
import { constants } from 'node:fs';
import {
  appendFile,
  chmod,
  copyFile,
  cp,
  lchown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { DomainError } from '../platform/errors.ts';
import { type Backup, CLUSTER_FOLDER, listBackups, readOwner, WAL_FOLDER } from './backup-directory.ts';
import type { PostgresPrograms } from './postgres-programs.ts';
import { followSegments, segmentName } from './wal-segments.ts';

/** Folder for the archived WAL in the restored cluster. PostgreSQL removes this folder when its recovery ends. */
const RECOVERY_FOLDER = 'recovery_wal';
const SETTINGS_FILE = 'postgresql.auto.conf';
const RECOVERY_SETTING = /^\s*(recovery_\w+|restore_command|hot_standby|archive_cleanup_command)\s*=/;

export interface Restore {
  /** The directory that holds the backups and the archived WAL. */
  readonly directory: string;
  /** Directory of the cluster to create; must be absent or empty. */
  readonly target: string;
  /**
   * Instant by the database's clock, as ISO 8601 text in UTC. Commits after this instant are not restored. Undefined
   * means that all archived WAL is restored.
   */
  readonly until: string | undefined;
}

export interface Restored {
  readonly backup: Backup;
  /** Number of WAL segments that were copied for the recovery. */
  readonly segments: number;
}

interface WalFile {
  readonly name: string;
  readonly path: string;
}

/**
 * Prepares `target`, so that a PostgreSQL server started there recovers the cluster.
 * @throws {DomainError} conflict in these cases:
 * - `readOwner` or `listBackups` throws it
 * - `target` is in use or not empty
 * - a backup or WAL is missing, or `until` is not restorable
 * - pg_verifybackup is absent or fails, for example because a checksum is wrong
 */
export async function restoreBackup(programs: PostgresPrograms, request: Restore): Promise<Restored> {
  const { directory, target, until } = request;
  const { segmentBytes } = await readOwner(directory);
  await assertEmpty(target);
  const backups = await listBackups(directory);
  const backup = chooseBackup(backups, request);
  const wal = await findWal(request, backup, backups, segmentBytes);
  const unfinished = `${target}.restoring`;
  await rm(unfinished, { recursive: true, force: true });
  try {
    const source = join(directory, backup.name, CLUSTER_FOLDER);
    await cp(source, unfinished, { recursive: true, mode: constants.COPYFILE_FICLONE });
    await programs.run('pg_verifybackup', ['--exit-on-error', '--no-parse-wal', '--quiet', unfinished]);
    await prepareRecovery(unfinished, wal, until);
    await giveToOwnerOf(dirname(target), unfinished);
    await rename(unfinished, target);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return { backup, segments: wal.length };
}

async function assertEmpty(target: string): Promise<void> {
  const names = await readdir(target).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.includes('postmaster.pid')) {
    throw new DomainError(
      'conflict',
      `${target} contains postmaster.pid, so a PostgreSQL server may still use this directory; stop the server, then move the directory away`,
    );
  }
  if (names.length > 0) {
    throw new DomainError('conflict', `${target} must be absent or empty; move its contents away first`);
  }
}

function chooseBackup(backups: readonly Backup[], { directory, until }: Restore): Backup {
  const [oldest] = backups;
  if (!oldest) throw new DomainError('conflict', `${directory} holds no finished backup`);
  const chosen = backups.findLast(({ restorableFrom }) => until === undefined || isBefore(restorableFrom, until));
  if (chosen) return chosen;
  throw new DomainError(
    'conflict',
    `--to must not be before the end of the oldest backup, ${oldest.restorableFrom}, got ${until}`,
  );
}

function isBefore(first: string, second: string): boolean {
  return Date.parse(first) <= Date.parse(second);
}

/**
 * @returns the WAL files in the archive and in the backup, from the first segment of the backup up to the first gap.
 */
async function findWal(
  { directory, until }: Restore,
  backup: Backup,
  backups: readonly Backup[],
  segmentBytes: number,
): Promise<readonly WalFile[]> {
  const archive = join(directory, WAL_FOLDER);
  const files = await findSegments([join(directory, backup.name, CLUSTER_FOLDER, 'pg_wal'), archive]);
  const { names, firstMissing } = followSegments(backup.startSegment, new Set(files.keys()), segmentBytes);
  const found = names.flatMap((name) => files.get(name) ?? []);
  const last = found.at(-1);
  if (!last) {
    const hasOlder = backups.some((other) => !isBefore(backup.restorableFrom, other.restorableFrom));
    throw new DomainError(
      'conflict',
      `${archive} lacks WAL segment ${firstMissing}, the first segment of backup ${backup.name}; add the segment` +
        (hasOlder ? `, or restore an older backup with a --to before ${backup.restorableFrom}` : ''),
    );
  }
  const { mtime } = await stat(last.path);
  const end = mtime.toISOString();
  const isCovered = until !== undefined && Date.parse(until) <= mtime.getTime();
  if (!isCovered && firstMissing !== undefined) {
    // The message proposes the instant `end` only if at least one backup can be restored to it.
    const isRestorable = backups.some(({ restorableFrom }) => isBefore(restorableFrom, end));
    throw new DomainError(
      'conflict',
      `WAL segment ${firstMissing} is missing in ${archive}; add the segment` +
        (isRestorable ? `, or restore with --to ${end} or earlier` : ''),
    );
  }
  if (!isCovered && until !== undefined) {
    throw new DomainError(
      'conflict',
      `--to must not be after the archived WAL, which ends at about ${end}, got ${until}; omit --to to restore all archived WAL`,
    );
  }
  return found;
}

/**
 * @returns one file for each segment, by name of the segment: the complete file or, if missing, the `.partial` file.
 */
async function findSegments(folders: readonly string[]): Promise<ReadonlyMap<string, WalFile>> {
  const listed = await Promise.all(
    folders.map(async (folder) => (await readdir(folder).catch(() => [])).map((file) => join(folder, file))),
  );
  const files = new Map<string, WalFile>();
  // `.partial` files come first, so that the complete file of a segment replaces its `.partial` file in the map.
  for (const path of listed.flat().sort((a, b) => extname(b).length - extname(a).length)) {
    const name = segmentName(basename(path));
    if (name !== undefined) files.set(name, { name, path });
  }
  return files;
}

async function prepareRecovery(cluster: string, wal: readonly WalFile[], until: string | undefined): Promise<void> {
  await chmod(cluster, 0o700);
  const folder = join(cluster, RECOVERY_FOLDER);
  await mkdir(folder, { mode: 0o700 });
  for (const { name, path } of wal) await copyFile(path, join(folder, name), constants.COPYFILE_FICLONE);
  const settings = {
    restore_command: `cp ${RECOVERY_FOLDER}/%f %p`,
    recovery_end_command: `rm -rf ${RECOVERY_FOLDER}`,
    // The zone is numeric, because `recovery_target_time` does not accept every abbreviation of a zone.
    recovery_target_time: until?.replace('T', ' ').replace('Z', '+00') ?? '',
    recovery_target_action: 'promote',
    // Clients must not read the database before the recovery ends, because it is incomplete until then.
    hot_standby: 'off',
  };
  const file = join(cluster, SETTINGS_FILE);
  const kept = (await readFile(file, 'utf8')).split('\n').filter((line) => !RECOVERY_SETTING.test(line));
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`);
  await writeFile(file, `${[...kept.filter(Boolean), ...lines].join('\n')}\n`);
  await appendFile(join(cluster, 'recovery.signal'), '');
}

/** As root, gives the files of `cluster` to the owner of `folder`. The user that runs PostgreSQL must own the files. */
async function giveToOwnerOf(folder: string, cluster: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  const entries = await readdir(cluster, { recursive: true });
  for (const entry of ['', ...entries]) await lchown(join(cluster, entry), uid, gid);
}
