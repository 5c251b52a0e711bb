/** Reports the instants to which the backups of a directory can be restored, and whether WAL is being archived. */
import type { Queryable } from '../platform/database/database.ts';
import { findArchivedUntilMs, listBackups, readOwner } from './backup-directory.ts';
import { SLOT } from './take-backup.ts';

export interface DescribedBackups {
  readonly lines: readonly string[];
  /** The reason why WAL is not being archived; undefined when WAL is being archived. */
  readonly problem: string | undefined;
}

interface SlotState {
  readonly isActive: boolean;
  /** True when the server has removed WAL that is not archived yet. */
  readonly isLost: boolean;
  /** Bytes of WAL that are not archived yet; null when `isLost` is true, and before the first use of the slot. */
  readonly behindBytes: number | null;
}

const SLOT_STATE = `
  select active as "isActive", coalesce(wal_status = 'lost', false) as "isLost",
         case when wal_status <> 'lost' then pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::int8 end as "behindBytes"
  from pg_replication_slots where slot_name = $1`;

/** @throws {DomainError} conflict when `readOwner` or `listBackups` throws it. */
export async function describeBackups(database: Queryable, directory: string): Promise<DescribedBackups> {
  await readOwner(directory);
  const [backups, archivedUntilMs] = await Promise.all([listBackups(directory), findArchivedUntilMs(directory)]);
  const { rows } = await database.query<SlotState>(SLOT_STATE, [SLOT]);
  const [slot] = rows;
  const behind =
    slot?.behindBytes == null ? '' : `; WAL not archived yet: ${Math.max(0, Math.round(slot.behindBytes / 1024))} kB`;
  return {
    lines: [
      ...backups.map(({ name, restorableFrom, postgresVersion, timescaleVersion }) => {
        return `${name}: restorable to the instants from ${restorableFrom} on that the archived WAL covers without a gap; PostgreSQL ${postgresVersion}, TimescaleDB ${timescaleVersion}`;
      }),
      archivedUntilMs === undefined
        ? 'no WAL is archived: only the newest backup can be restored, to its end; run `restore` without --to'
        : `WAL is archived up to about ${new Date(archivedUntilMs).toISOString()}${behind}`,
    ],
    problem: findProblem(slot),
  };
}

function findProblem(slot: SlotState | undefined): string | undefined {
  if (!slot) return `nothing archives WAL: the database has no replication slot ${SLOT}; run \`archive\``;
  if (slot.isLost) {
    return (
      'the archive has a gap: the database discarded WAL that was not archived yet. A slot retains at most max_slot_wal_keep_size. ' +
      `Drop the replication slot ${SLOT}, run \`archive\` with an empty directory, then take a backup into the same directory`
    );
  }
  return slot.isActive ? undefined : 'nothing archives WAL at the moment: run `archive`';
}
