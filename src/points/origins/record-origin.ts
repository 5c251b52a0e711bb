/**
 * Records what brought the versions of a write: one row of `write_origin` for each VersionTimestamp of the write, usually one.
 * A version needs no column of its own: its VersionTimestamp and its variable identify the write. Runs have no row
 * here: the record of a run has the VersionTimestamps that it stored.
 */
import type { Transaction } from '../../platform/database/database.ts';
import type { Micros } from '../point.ts';
import { encodeRuns, encodeVariables } from './variable-runs-codec.ts';

/** The variables of a write with the same VersionTimestamps. */
export interface WriteStamp {
  /** VersionTimestamp of the first row of a date, the same for all dates; further rows of a date get the microseconds after it. */
  readonly fromMicros: Micros;
  /** VersionTimestamp of the last row of a date with several rows, inclusive. */
  readonly toMicros: Micros;
  readonly variableIds: ReadonlySet<number>;
}

const micros = (name: string) => `timestamptz 'epoch' + ${name} * interval '1 microsecond'`;

/** Columns of a stamp, in the order of `stampValues`. */
export const STAMP_COLUMNS = 'version_timestamp, last_version_timestamp, variables';
/** A row of `STAMP_COLUMNS` per stamp, from the parameters $1 to $3, which are `stampValues`. */
export const STAMPS = `(
  select ${micros('from_micros')} as version_timestamp, ${micros('to_micros')} as last_version_timestamp, variables
  from unnest($1::int8[], $2::int8[], $3::bytea[]) given (from_micros, to_micros, variables)) stamp`;

/** @param runs encodes the variables of a stamp. */
function stampValues(stamps: readonly WriteStamp[], runs: (stamp: WriteStamp) => Buffer): readonly unknown[] {
  return [stamps.map(({ fromMicros }) => fromMicros), stamps.map(({ toMicros }) => toMicros), stamps.map(runs)];
}

/** Parameters of `STAMPS` for a write of several origins. @param batches COPY tuples of the write, in order. */
export function orderedStampValues(stamps: readonly WriteStamp[], batches: readonly Buffer[]): readonly unknown[] {
  return stampValues(stamps, ({ variableIds }) => encodeRuns(batches, (id) => variableIds.has(id)));
}

/** As `STAMPS` with `orderedStampValues`, without parameters. @param stamps at least one. */
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

/** The origin of a write that one file or one operation brought. */
export type SoleOrigin = { readonly fileId: string } | { readonly operationId: number };

/** Records a write whose readings all have the same origin, in the transaction of the write. */
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
