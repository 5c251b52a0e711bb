/** Finds the writes that stored given versions, by variable and VersionTimestamp. */
import type { Queryable } from '../../platform/database/database.ts';
import type { Micros } from '../point.ts';
import { type Positions, positionsOf } from './variable-runs-codec.ts';

/** A write, and the pushes or the file that its versions came from. */
export interface FoundWrite {
  /** Id of the file of the write; null for pushes. */
  readonly fileId: string | null;
  /** Ids of operations in the order in which they took effect. */
  readonly operationIds: readonly number[];
  /** Number of readings of each operation; null for a write that `recordOrigin` recorded. */
  readonly readingCounts: readonly number[] | null;
  /** Positions of the variable's readings in the write; meaningless for a write that `recordOrigin` recorded. */
  readonly positions: readonly Positions[];
}

// The lower bound of `version_timestamp` limits the scan of the index. It never excludes the write that is looked for,
// because the first and last VersionTimestamp of a write are close together: when a write has several rows for a date,
// their VersionTimestamps are one microsecond apart.
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
 * Finds the writes of versions of one variable. The VersionTimestamps of a variable ascend from write to write, so a
 * version belongs to the variable's last write whose VersionTimestamp is not later than that of the version.
 * @param versionTimestamps microseconds since 1970.
 * @returns the write of each version, by the VersionTimestamp of the version. A version has no entry when
 * no push or file wrote it, or when the record of its write has been deleted.
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
