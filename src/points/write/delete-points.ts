/** Removes points for good, history included (R-G5); and tells what would be removed. */
import type { Transaction } from '../../platform/database.ts';
import { formatInstant, MAX_DATE_MICROS, MIN_DATE_MICROS } from '../instant-rules.ts';
import type { Micros, WrittenRange } from '../point.ts';
import { lockSeries } from './lock-series.ts';

export interface Removal {
  readonly variableIds: readonly number[];
  /** Inclusive; without it from the first date on. */
  readonly fromMicros?: Micros;
  /** Exclusive, unless `isToIncluded`; without it to the last date. */
  readonly toMicros?: Micros;
  readonly isToIncluded?: boolean;
}

const IN_REMOVAL = `variable_id = any($1::int[]) and date >= $2::timestamptz and date < $3::timestamptz`;

const RANGES = `
  select variable_id as "variableId", (extract(epoch from min(date)) * 1000000)::int8 as "fromMicros",
         (extract(epoch from max(date)) * 1000000)::int8 as "toMicros", count(*)::int as count`;

export const FIND_REMOVED = `${RANGES} from point where ${IN_REMOVAL} group by variable_id order by variable_id`;

export const DELETE_HISTORY = `delete from point_version where ${IN_REMOVAL}`;

export const DELETE_CURRENT = `
  with removed as (delete from point where ${IN_REMOVAL} returning variable_id, date)
  ${RANGES} from removed group by variable_id order by variable_id`;

// What is removed up to the end lowers the high-water mark, so that new points are appended again; where nothing is left,
// nothing is known of versions any more. VersionTimestamps go on from the last one given (R-F1).
const SAVE_REMOVAL = `
  update series
  set purge_count = purge_count + 1,
      max_date = case when is_to_end then least(max_date, $2::timestamptz - interval '1 microsecond') else max_date end,
      has_history = has_history and not is_whole,
      last_version_tag_id = case when is_whole then 0 else last_version_tag_id end,
      version_bound = case when is_whole then 0 else version_bound end
  from (select variable_id, max_date < $3::timestamptz as is_to_end,
               max_date < $3::timestamptz and $2::timestamptz = '-infinity' as is_whole
        from series where variable_id = any($1::int[])) removal
  where series.variable_id = removal.variable_id`;

/**
 * Removes all versions at the dates of a period.
 * @returns per variable that had points there, by ascending id: first and last date removed and how many, to be announced
 *   in the same transaction.
 */
export async function deletePoints(transaction: Transaction, removal: Removal): Promise<readonly WrittenRange[]> {
  const values = await lock(transaction, removal);
  await transaction.query(DELETE_HISTORY, values);
  const { rows: ranges } = await transaction.query<WrittenRange>(DELETE_CURRENT, values);
  await transaction.query(SAVE_REMOVAL, [ranges.map(({ variableId }) => variableId), ...values.slice(1)]);
  return ranges;
}

/** What `deletePoints` would remove and return. Nobody writes these variables until the end of the transaction. */
export async function findRemoved(transaction: Transaction, removal: Removal): Promise<readonly WrittenRange[]> {
  const values = await lock(transaction, removal);
  const { rows } = await transaction.query<WrittenRange>(FIND_REMOVED, values);
  return rows;
}

/** Waits for the writers of the variables and keeps others off. @returns values of the statements. */
async function lock(transaction: Transaction, removal: Removal): Promise<unknown[]> {
  const { variableIds, fromMicros = -Infinity, toMicros = Infinity, isToIncluded = false } = removal;
  await lockSeries(
    transaction,
    [...variableIds].sort((a, b) => a - b),
  );
  return [variableIds, boundOf(fromMicros), boundOf(toMicros + (isToIncluded ? 1 : 0))];
}

/** Beyond all dates it is infinite. */
function boundOf(micros: Micros): string {
  if (micros < MIN_DATE_MICROS) return '-infinity';
  return micros > MAX_DATE_MICROS ? 'infinity' : formatInstant(micros);
}
