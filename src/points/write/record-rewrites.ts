/**
 * Records which dates a write changed, for followers of a variable (read-changes.ts). A write that only appends
 * (`isAppend`) needs no record. A background job merges old records.
 */
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { WrittenSeries } from './plan-write-rules.ts';

export const RECORD_REWRITES = `
  insert into point_rewrite (variable_id, version_timestamp, from_date, to_date)
  select variable_id, timestamptz 'epoch' + version_timestamp * interval '1 microsecond',
         timestamptz 'epoch' + from_micros * interval '1 microsecond',
         timestamptz 'epoch' + to_micros * interval '1 microsecond'
  from unnest($1::int[], $2::int8[], $3::int8[], $4::int8[]) written (variable_id, version_timestamp, from_micros, to_micros)`;

/** Inserts one record for each variable whose write is not a mere append, in the transaction of the write. */
export async function recordRewrites(transaction: Transaction, written: readonly WrittenSeries[]): Promise<void> {
  const rewritten = written.filter(({ isAppend }) => !isAppend);
  if (rewritten.length === 0) return;
  await transaction.query(RECORD_REWRITES, [
    rewritten.map(({ variableId }) => variableId),
    rewritten.map(({ lastVersionTimestamp }) => lastVersionTimestamp),
    rewritten.map(({ fromMicros }) => fromMicros),
    rewritten.map(({ toMicros }) => toMicros),
  ]);
}

// Leaves the records of the last hour as they are. For each variable, merges all records older than 32 days into one
// record, and the records between an hour and 32 days old into one record per day. A merged record covers a wider
// period, so followers read more points than necessary, but miss no point.
const JOIN = `
  with aged as (
    select variable_id, version_timestamp,
           case when version_timestamp < now() - interval '32 days' then '-infinity'
                else date_bin('1 day', version_timestamp, 'epoch') end as day
    from point_rewrite where version_timestamp < now() - interval '1 hour'
  ), several as (
    select variable_id, day from aged group by 1, 2 having count(*) > 1
  ), joined as (
    delete from point_rewrite using aged join several using (variable_id, day)
    where point_rewrite.variable_id = aged.variable_id and point_rewrite.version_timestamp = aged.version_timestamp
    returning point_rewrite.*, day
  )
  insert into point_rewrite (variable_id, version_timestamp, from_date, to_date)
  select variable_id, max(version_timestamp), min(from_date), max(to_date) from joined group by variable_id, day`;

/**
 * Merges old records, so that they do not accumulate. Concurrent readers see the records either before or after the
 * merge.
 */
export async function compactRewrites(database: Database): Promise<void> {
  await database.query(JOIN);
}
