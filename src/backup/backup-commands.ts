/** The operator's commands for backups, which `admin` runs. They check their arguments and print their results. */
import { resolve } from 'node:path';
import type { Queryable } from '../platform/database/database.ts';
import { parseInstant } from '../platform/dates/date-rules.ts';
import { DomainError } from '../platform/errors.ts';
import { describeBackups } from './describe-backups.ts';
import type { PostgresPrograms } from './postgres-programs.ts';
import { restoreBackup } from './restore-backup.ts';
import { archiveWal, takeBackup } from './take-backup.ts';

export interface BackupParts {
  readonly database: Queryable;
  readonly programs: PostgresPrograms;
  readonly print: (line: string) => void;
}

export interface BackupOptions {
  /** Instant that `restore` recovers to. */
  readonly to?: string | undefined;
  /** The command `backup` keeps this many of the newest backups, and deletes older backups. */
  readonly keep?: string | undefined;
}

type BackupCommand = (operands: readonly string[], options: BackupOptions) => Promise<void>;

export type BackupCommands = Readonly<Record<'backup' | 'archive' | 'backups' | 'restore', BackupCommand>>;

/**
 * @returns the commands by name. A command throws a DomainError `invalid_input` for invalid arguments; other errors
 * come from the function that it calls. `backups` throws `conflict` when WAL is not being archived.
 */
export function backupCommands({ database, programs, print }: BackupParts): BackupCommands {
  return {
    backup: async (operands, { keep }) => {
      const [directory] = toPaths(operands, 'DIR');
      const taken = await takeBackup({ database, programs }, directory, toCount(keep));
      print(`backup ${taken.name} is complete and verified`);
      print(
        taken.isArchived
          ? `restorable to ${taken.restorableFrom} and to every later instant that the archived WAL covers`
          : `restorable only to its end, shortly before ${taken.restorableFrom}, because no WAL is archived: run \`restore\` without --to while it is the newest backup; do what \`backups\` says, then take another backup`,
      );
    },
    archive: async (operands) => {
      const [directory] = toPaths(operands, 'DIR');
      print(`archiving WAL into ${directory} until stopped`);
      await archiveWal({ database, programs }, directory);
    },
    backups: async (operands) => {
      const [directory] = toPaths(operands, 'DIR');
      const { lines, problem } = await describeBackups(database, directory);
      for (const line of lines) print(line);
      if (problem !== undefined) throw new DomainError('conflict', problem);
    },
    restore: async (operands, { to }) => {
      const [directory, target] = toPaths(operands, 'DIR', 'TARGET');
      const until = toInstant(to);
      const { backup, segments } = await restoreBackup(programs, { directory, target, until });
      print(`copied backup ${backup.name} and ${segments} WAL segment${segments === 1 ? '' : 's'} into ${target}`);
      print(
        until === undefined
          ? `start PostgreSQL on ${target}: it recovers everything that was archived, then accepts connections`
          : `start PostgreSQL on ${target}: it recovers all transactions committed up to ${until}, then accepts connections; if it ends with "recovery ended before configured recovery target was reached", nothing was committed later: restore without --to`,
      );
      print(
        'start with an empty Redis: jobs in the old Redis may refer to work that the restored database does not contain',
      );
      print('take the next backup into an empty directory');
    },
  };
}

function toPaths(operands: readonly string[], ...names: readonly ['DIR']): [string];
function toPaths(operands: readonly string[], ...names: readonly ['DIR', 'TARGET']): [string, string];
function toPaths(operands: readonly string[], ...names: readonly string[]): string[] {
  if (operands.length === names.length) return operands.map((operand) => resolve(operand));
  throw new DomainError('invalid_input', `the command needs ${names.join(' and ')}, got "${operands.join(' ')}"`);
}

function toCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new DomainError('invalid_input', `--keep must be a positive integer, got ${text}`);
}

function toInstant(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const instant = parseInstant(text);
  if (instant !== undefined) return instant;
  throw new DomainError('invalid_input', `--to must be an instant such as 2026-11-22T13:00:00Z, got ${text}`);
}
