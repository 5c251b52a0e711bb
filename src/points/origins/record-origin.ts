/**
 * Records the pushes or the file that a write came from. Each `WriteStamp` of the write becomes one row of
 * `write_origin`; most writes have only one `WriteStamp`. Points need no column for their origin: VersionTimestamp and
 * variable identify the write. Calculation runs have no row in `write_origin`: the record of a run contains the first
 * and the last VersionTimestamp that the run stored.
 */
import type { Transaction } from '../../platform/database/database.ts';
import type { Micros } from '../point.ts';
import { encodeRuns, encodeVariables } from './variable-runs-codec.ts';

/** A range of VersionTimestamps that a write gave to its rows, and the variables of these rows. */
export interface WriteStamp {
  /** VersionTimestamp of the first row of every date. Each further row of a date is one microsecond later. */
  readonly fromMicros: Micros;
  /**
   * Last VersionTimestamp of the range, inclusive. It equals `fromMicros` unless the write stores several rows for one
   * date of a variable.
   */
  readonly toMicros: Micros;
  readonly variableIds: ReadonlySet<number>;
}

const micros = (name: string) => `timestamptz 'epoch' + ${name} * interval '1 microsecond'`;

/** Columns of a stamp, in the order of `stampValues`. */
export const STAMP_COLUMNS = 'version_timestamp, last_version_timestamp, variables';
/** SQL that returns `STAMP_COLUMNS`, one row per stamp. `stampValues` returns the parameters $1 to $3 of this SQL. */
export const STAMPS = `(
  select ${micros('from_micros')} as version_timestamp, ${micros('to_micros')} as last_version_timestamp, variables
  from unnest($1::int8[], $2::int8[], $3::bytea[]) given (from_micros, to_micros, variables)) stamp`;

/** Returns the parameters of `STAMPS`. Calls `runs` for each stamp to encode the variable ids of the stamp. */
function stampValues(stamps: readonly WriteStamp[], runs: (stamp: WriteStamp) => Buffer): readonly unknown[] {
  return [stamps.map(({ fromMicros }) => fromMicros), stamps.map(({ toMicros }) => toMicros), stamps.map(runs)];
}

/**
 * Returns the parameters of `STAMPS` for a write with several operations.
 * @param batches COPY tuples of the write, in order.
 */
export function orderedStampValues(stamps: readonly WriteStamp[], batches: readonly Buffer[]): readonly unknown[] {
  return stampValues(stamps, ({ variableIds }) => encodeRuns(batches, (id) => variableIds.has(id)));
}

/**
 * Returns SQL without parameters that yields the same rows as `STAMPS` with `orderedStampValues` as parameters.
 * @param stamps at least one stamp.
 */
export function stampsLiteral(stamps: readonly WriteStamp[], batches: readonly Buffer[]): string {
  const rows = stamps.map(({ fromMicros, toMicros, variableIds }) => {
    const runs = encodeRuns(batches, (id) => variableIds.has(id)).toString('hex');
    return `(${micros(String(fromMicros))}, ${micros(String(toMicros))}, '\\x${runs}'::bytea)`;
  });
  return `(values ${rows.join()}) stamp (${STAMP_COLUMNS})`;
}

export const RECORD_ORIGIN = `
  insert into write_origin (${STAMP_COLUMNS}, account_id, file_id, operation_ids)
  select ${STAMP_COLUMNS}, $4, $5::uuid, $6::int8[] from ${STAMPS}`;

/** The origin of a write that came from one file or one operation. */
export type SoleOrigin = { readonly fileId: string } | { readonly operationId: number };

/**
 * Records the origin of a write whose readings all have the same origin. Call this function in the transaction of the
 * write.
 */
export async function recordOrigin(
  transaction: Transaction,
  accountId: number,
  stamps: readonly WriteStamp[],
  origin: SoleOrigin,
): Promise<void> {
  if (stamps.length === 0) return;
  await transaction.query(RECORD_ORIGIN, [
    ...stampValues(stamps, ({ variableIds }) => encodeVariables(variableIds)),
    accountId,
    'fileId' in origin ? origin.fileId : null,
    'fileId' in origin ? [] : [origin.operationId],
  ]);
}
