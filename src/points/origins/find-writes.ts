/** Finds the write that stored a version. The variable and the VersionTimestamp of a version identify the write. */
import type { Queryable } from '../../platform/database/database.ts';
import type { Micros } from '../point.ts';
import { type Positions, positionsOf } from './variable-runs-codec.ts';

/** A write, and the pushes or the file that its versions came from. */
export interface FoundWrite {
  /** Id of the file that the versions came from; null when they came from pushes. */
  readonly fileId: string | null;
  /** Ids of the operations of the pushes, in the order in which the pushes took effect; empty for a file. */
  readonly operationIds: readonly number[];
  /** Number of readings of each operation; null for a write that `recordOrigin` recorded. */
  readonly readingCounts: readonly number[] | null;
  /** Positions of the variable's readings in the write; meaningless for a write that `recordOrigin` recorded. */
  readonly positions: readonly Positions[];
}

// The lower bound of `version_timestamp` limits the scan of the index. The bound loses no write, because the
// VersionTimestamps of one row of `write_origin` differ by less than 10 s.
export const FIND_WRITES = `
  select (extract(epoch from asked.at) * 1000000)::int8 as "atMicros", file_id as "fileId", operation_ids as "operationIds",
         reading_counts as "readingCounts", variables
  from unnest($2::int8[]) micros
  cross join lateral (select timestamptz 'epoch' + micros * interval '1 microsecond' as at) asked
  join write_origin on account_id = $1 and version_timestamp <= asked.at
    and version_timestamp >= asked.at - interval '10 s' and last_version_timestamp >= asked.at
  order by version_timestamp desc`;

interface WriteRow extends Omit<FoundWrite, 'positions' | 'operationIds'> {
  readonly atMicros: Micros;
  readonly operationIds: readonly string[];
  readonly variables: Buffer;
}

/**
 * Finds the writes that stored the given versions of one variable. A version belongs to the variable's latest write
 * that began at or before its VersionTimestamp, because each write of a variable assigns later VersionTimestamps than
 * the writes of this variable before.
 * @param versionTimestamps microseconds since 1970.
 * @returns a map from the VersionTimestamp of each version to its write. The map omits a version whose write has no
 *   record.
 */
export async function findWrites(
  queryable: Queryable,
  accountId: number,
  variableId: number,
  versionTimestamps: readonly Micros[],
): Promise<ReadonlyMap<Micros, FoundWrite>> {
  const { rows } = await queryable.query<WriteRow>(FIND_WRITES, [accountId, versionTimestamps]);
  const found = new Map<Micros, FoundWrite>();
  for (const { atMicros, operationIds, variables, ...row } of rows) {
    if (found.has(atMicros)) continue;
    const positions = positionsOf(variables, variableId);
    if (positions.length > 0) found.set(atMicros, { ...row, operationIds: operationIds.map(Number), positions });
  }
  return found;
}
