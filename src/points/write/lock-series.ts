/** Locks, reads and saves the write state of variables (table `series`). */
import type { QueryResult } from 'pg';
import type { Transaction } from '../../platform/database/database.ts';
import type { Micros } from '../point.ts';
import { integerArrayLiteral } from '../read/sql-literal.ts';
import type { WrittenSeries } from './plan-write-rules.ts';
import type { HistoryCuts } from './supersede-stored.ts';
import type { Series } from './survey-rows-rules.ts';

/**
 * @returns the statement that inserts the missing rows of `series`. A writer inserts rows before it locks rows, and
 * does both in ascending order of ids. This prevents deadlocks: while writer A waits for a row that writer B inserted,
 * A holds no row that B needs.
 * @param ids SQL expression for the ids of the variables, of type int[].
 */
export const addSeries = (ids: string) => `
  insert into series (variable_id)
  select id from variable
  where id = any(${ids}) and not exists (select from series where series.variable_id = variable.id)
  order by id
  on conflict do nothing`;

/**
 * @returns the statement that locks and reads rows of `series`.
 * @param ids SQL expression for the ids of the variables, of type int[].
 */
export const lockRows = (ids: string) => `
  select variable_id as "variableId", has_history as "hasHistory", last_version_tag_id as "lastVersionTagId",
         version_bound as "versionBound", history_from is not null as "isHistoryCut",
         (extract(epoch from greatest(raw_from, rollup_next)) * 1000000)::int8 as "rolledUntilMicros",
         case when max_date > '-infinity' then (extract(epoch from max_date) * 1000000)::int8 end as "maxDateMicros",
         case when last_version_timestamp > '-infinity'
              then (extract(epoch from last_version_timestamp) * 1000000)::int8 end as "lastVersionTimestamp"
  from series where variable_id = any(${ids}) order by variable_id for update`;

/**
 * @returns the statement that finds the settings of variables. It runs after `lockRows`, so it sees every change and
 * deletion that was committed before the rows were locked.
 * @param ids SQL expression for the ids of the variables, of type int[].
 */
export const findSettings = (ids: string) => `
  select variable_id as "variableId", account_id as "accountId", is_versioned as "isVersioned",
         version_limit as "versionLimit"
  from series_setting where variable_id = any(${ids})`;

const BEGIN_WRITE = `select (extract(epoch from begin_point_write($1::int[])) * 1000000)::int8 as now`;

export const SAVE_SERIES = `
  update series
  set max_date = greatest(max_date, timestamptz 'epoch' + written.to_micros * interval '1 microsecond'),
      last_version_timestamp = timestamptz 'epoch' + written.version_timestamp * interval '1 microsecond',
      has_history = written.has_history,
      last_version_tag_id = written.version_tag_id,
      version_bound = written.version_bound,
      history_from = greatest(history_from,
                              timestamptz 'epoch' + written.history_from_micros * interval '1 microsecond')
  from unnest($1::int[], $2::int8[], $3::int8[], $4::bool[], $5::int[], $6::int[], $7::int8[])
       written (variable_id, to_micros, version_timestamp, has_history, version_tag_id, version_bound, history_from_micros)
  where series.variable_id = written.variable_id`;

type Kept = 'variableId' | 'hasHistory' | 'lastVersionTagId' | 'versionBound' | 'isHistoryCut' | 'rolledUntilMicros';
type State = Pick<Series, Kept> & {
  readonly maxDateMicros: Micros | null;
  readonly lastVersionTimestamp: Micros | null;
};
type Settings = Pick<Series, 'variableId' | 'accountId' | 'isVersioned' | 'versionLimit'>;

/**
 * Locks the write state of variables until the transaction ends.
 *
 * @param variableIds ids in ascending order.
 * @returns write state and settings by variable id. Variables that do not exist are absent from the map.
 */
export async function lockSeries(
  transaction: Transaction,
  variableIds: readonly number[],
): Promise<ReadonlyMap<number, Series>> {
  const ids = integerArrayLiteral(variableIds);
  // One round trip for three statements, each with its own snapshot.
  const results: unknown = await transaction.query([addSeries(ids), lockRows(ids), findSettings(ids)].join(';'));
  const [, states, settings] = results as [QueryResult, QueryResult<State>, QueryResult<Settings>];
  const settingsById = new Map(settings.rows.map((setting) => [setting.variableId, setting]));
  const series = new Map<number, Series>();
  for (const state of states.rows) {
    const setting = settingsById.get(state.variableId);
    if (setting) series.set(state.variableId, toSeries(state, setting));
  }
  return series;
}

function toSeries(state: State, setting: Settings): Series {
  return {
    ...state,
    ...setting,
    maxDateMicros: state.maxDateMicros ?? Number.NEGATIVE_INFINITY,
    lastVersionTimestamp: state.lastVersionTimestamp ?? Number.NEGATIVE_INFINITY,
  };
}

/**
 * Registers a write, so that readers can wait until the write ends (await-writers.ts). Call this function while the
 * series are locked.
 * @returns the current time of the database clock, in microseconds since 1970. The VersionTimestamps of the write are
 * derived from this time (R-F1).
 * @throws {Error} when the database returns no row.
 */
export async function beginWrite(transaction: Transaction, series: Iterable<Series>): Promise<Micros> {
  const accountIds = [...new Set(Array.from(series, ({ accountId }) => accountId))];
  const { rows } = await transaction.query<{ now: Micros }>(BEGIN_WRITE, [accountIds]);
  const now = rows[0]?.now;
  if (now === undefined) throw new Error('the database returned no VersionTimestamp');
  return now;
}

/**
 * Saves the write state of the variables after a write.
 * @param cuts see `HistoryCuts` (R-F9).
 */
export async function saveSeries(
  transaction: Transaction,
  written: readonly WrittenSeries[],
  cuts: HistoryCuts,
): Promise<void> {
  if (written.length === 0) return;
  await transaction.query(SAVE_SERIES, [
    written.map(({ variableId }) => variableId),
    written.map(({ toMicros }) => toMicros),
    written.map(({ lastVersionTimestamp }) => lastVersionTimestamp),
    written.map(({ hasHistory }) => hasHistory),
    written.map(({ lastVersionTagId }) => lastVersionTagId),
    written.map(({ versionBound }) => versionBound),
    written.map(({ variableId, lastVersionTimestamp }) => {
      const historyFrom = cuts.get(variableId);
      return historyFrom === undefined ? null : Math.min(historyFrom, lastVersionTimestamp);
    }),
  ]);
}
