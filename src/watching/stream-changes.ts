/** Streams the points that a watch has not sent yet, from one snapshot of the database. */
import { type Database, streamInSnapshot, type Transaction } from '../platform/database/database.ts';
import type { LinearScale, PointChunk } from '../points/point.ts';
import {
  type ChangedVariable,
  type ChangePosition,
  findChanges,
  groupChanges,
  readChanges,
} from '../points/read/read-changes.ts';

export type Change =
  /** The next points of a variable, in order of VersionTimestamp and date. */
  | { readonly kind: 'points'; readonly chunk: PointChunk }
  /** These variables have no further points in the snapshot. */
  | { readonly kind: 'complete'; readonly changes: readonly ChangedVariable[] };

/**
 * Streams the points that come after the reader's positions (R-J1). Reads all points from one snapshot, variable by
 * variable.
 * @param positions the reader's position in each variable that may have changed.
 * @param scales unit conversion by variable id.
 * @throws the errors of `readChanges` and `streamInSnapshot`.
 */
export function streamChanges(
  database: Database,
  positions: ReadonlyMap<number, ChangePosition>,
  scales: ReadonlyMap<number, LinearScale> | undefined,
  signal: AbortSignal,
): AsyncGenerator<Change> {
  const read = async function* (transaction: Transaction): AsyncGenerator<Change> {
    for (const changes of groupChanges(await findChanges(transaction, positions))) {
      for await (const chunk of readChanges(transaction, changes, scales)) yield { kind: 'points', chunk };
      yield { kind: 'complete', changes };
    }
  };
  return streamInSnapshot(database, read, signal);
}
