/** What a watch has not seen yet, in one snapshot of the database. */
import { type Database, streamInSnapshot, type Transaction } from '../../platform/database/database.ts';
import type { LinearScale, PointChunk } from '../../points/point.ts';
import {
  type ChangedVariable,
  type ChangePosition,
  findChanges,
  groupChanges,
  readChanges,
} from '../../points/read/read-changes.ts';

export type Change =
  /** The next points of a variable, by VersionTimestamp and date. */
  | { readonly kind: 'points'; readonly chunk: PointChunk }
  /** There is no more of these variables. */
  | { readonly kind: 'whole'; readonly changes: readonly ChangedVariable[] };

/** @param places of the variables that may have news. */
export function streamChanges(
  database: Database,
  places: ReadonlyMap<number, ChangePosition>,
  scales: ReadonlyMap<number, LinearScale> | undefined,
  signal: AbortSignal,
): AsyncGenerator<Change> {
  const read = async function* (transaction: Transaction): AsyncGenerator<Change> {
    for (const changes of groupChanges(await findChanges(transaction, places))) {
      for await (const chunk of readChanges(transaction, changes, scales)) yield { kind: 'points', chunk };
      yield { kind: 'whole', changes };
    }
  };
  return streamInSnapshot(database, read, signal);
}
