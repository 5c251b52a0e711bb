/**
 * The SQL of a selection: which rows of which version of one variable (R-F5, R-G2). Whatever version is chosen, rows come
 * straight from the indexes in the order asked for, without a sort that grows with the period:
 *
 *   latest            point
 *   every version     point and history, merged by date and VersionTimestamp
 *   a version chosen  the same, narrowed, of each date the first by descending VersionTimestamp
 */

import { instantOfLocal, offsetAtInstant } from '../buckets/civil-sql.ts';
import { offsetSpans } from '../buckets/zone-offsets.ts';
import type { Micros, PointSelection } from '../point.ts';
import type { ChosenLabels } from './find-chosen-labels.ts';
import { instantLiteral, integerArrayLiteral, integerLiteral, intervalLiteral, textLiteral } from './sql-literal.ts';

/** The columns of `point`, for whoever reads all of them. */
export const ALL_COLUMNS = 'date, value, version_timestamp, variable_id, version_tag_id, tag_set_id';

/**
 * Rows in the order of `orderOf`.
 * @param variable an SQL expression: the id of the variable.
 * @param columns those that are read, date among them. One too many costs a step per row that takes it out again: a third
 *   of an as-of read (measured: 73 ms against 49).
 */
export function selectVersions(
  selection: PointSelection,
  variable: string,
  labels: ChosenLabels,
  columns: string,
): string {
  const { version, order } = selection;
  const period = periodConditions(selection, variable);
  const narrowing = narrowingConditions(selection, labels);
  const isChosen = narrowing.length > 0 || labels.tagSetIds !== undefined;
  const where = [...period, ...narrowing].join(' and ');
  const byDate = `date ${order === 'DESC' ? 'desc' : 'asc'}`;
  if (!isChosen && !version.isEvery) return `select ${columns} from point where ${where} order by ${byDate}`;
  const ordered = version.isEvery ? orderOf(selection) : `${byDate}, version_timestamp desc`;
  if (labels.tagSetIds !== undefined) {
    const merged = mergeTables({ current: where, superseded: where, ordered, columns: ALL_COLUMNS });
    const tagged = withTagSets(merged, labels.tagSetIds, withOrdering(columns));
    return version.isEvery ? tagged : firstOfDates(tagged, ordered, columns);
  }
  const isWhole = !version.isEvery && selection.limit === undefined;
  const superseded = isWhole ? `${where} and ${whereCurrentFails(period, narrowing)}` : where;
  const merged = mergeTables({ current: where, superseded, ordered, columns: withOrdering(columns) });
  return version.isEvery ? merged : firstOfDates(merged, ordered, columns);
}

function firstOfDates(wanted: string, ordered: string, columns: string): string {
  return `select distinct on (date) ${columns} from (${wanted}) wanted order by ${ordered}`;
}

function withOrdering(columns: string): string {
  return columns.includes('version_timestamp') ? columns : `${columns}, version_timestamp`;
}

/** How the rows of a variable follow one another: by date, the versions of a date by VersionTimestamp. */
export function orderOf({ order, version }: PointSelection): string {
  const direction = order === 'DESC' ? 'desc' : 'asc';
  return version.isEvery ? `date ${direction}, version_timestamp ${direction}` : `date ${direction}`;
}

/** ` limit … offset …` for the end of a statement. */
export function pagingClause({ limit, offset }: Pick<PointSelection, 'limit' | 'offset'>): string {
  const limitClause = limit === undefined ? '' : ` limit ${integerLiteral(limit)}`;
  return offset ? `${limitClause} offset ${integerLiteral(offset)}` : limitClause;
}

function periodConditions({ fromMicros, toMicros, isToIncluded }: PointSelection, variable: string): string[] {
  return [
    `variable_id = ${variable}`,
    ...(fromMicros === undefined ? [] : [`date >= ${instantLiteral(fromMicros)}`]),
    ...(toMicros === undefined ? [] : [`date ${isToIncluded ? '<=' : '<'} ${instantLiteral(toMicros)}`]),
  ];
}

function narrowingConditions(selection: PointSelection, { versionTagIds }: ChosenLabels): string[] {
  const { asOfMicros, horizon } = selection.version;
  return [
    ...(asOfMicros === undefined ? [] : [`version_timestamp <= ${instantLiteral(asOfMicros)}`]),
    ...(horizon === undefined ? [] : [`version_timestamp <= ${horizonBefore(selection)}`]),
    ...(versionTagIds === undefined ? [] : [`version_tag_id = any(${integerArrayLiteral(versionTagIds)})`]),
  ];
}

interface Merging {
  /** Conditions on `point` and on `point_version`. */
  readonly current: string;
  readonly superseded: string;
  readonly ordered: string;
  readonly columns: string;
}

/** Each table is ordered by itself, by its index; merging keeps that order. */
function mergeTables({ current, superseded, ordered, columns }: Merging): string {
  const from = (table: string, where: string) => `(select ${columns} from ${table} where ${where} order by ${ordered})`;
  const both = `${from('point', current)} union all ${from('point_version', superseded)}`;
  return `select ${columns} from (${both}) version order by ${ordered}`;
}

/**
 * History is wanted where the current version is not: every date has one, and nothing is newer than that. Most states of
 * the past differ from the latest in a part of the period at most, which two looks at the current versions tell. They are
 * not worth it where a page is asked for, such as the last point of many variables.
 */
function whereCurrentFails(period: readonly string[], narrowing: readonly string[]): string {
  const failing = `from point where ${period.join(' and ')} and not (${narrowing.join(' and ')})`;
  return `date >= (select min(date) ${failing}) and date <= (select max(date) ${failing})`;
}

/** The `offset 0` keeps the condition out of the scans: every chunk would carry a copy of what may be a long list. */
function withTagSets(merged: string, tagSetIds: string, columns: string): string {
  return `select ${columns} from (${merged} offset 0) version where tag_set_id = any(${textLiteral(tagSetIds)}::int[])`;
}

const DAY: Micros = 86_400_000_000;
const MOST_DAYS_OF_MONTH = 31;

/** The instant by which a version of a date had to be known: months and days back on the zone's calendar, the rest on the clock. */
function horizonBefore({ version: { horizon }, fromMicros, toMicros }: PointSelection): string {
  if (!horizon) throw new Error('there is no horizon');
  const { duration, timeZoneId } = horizon;
  const { months, days, micros } = duration;
  const clock = intervalLiteral(micros);
  if (months === 0 && days === 0) return `date - ${clock}`;
  const longest = (months * MOST_DAYS_OF_MONTH + days + 1) * DAY;
  const spans = offsetSpans(timeZoneId, fromMicros === undefined ? undefined : fromMicros - longest, toMicros);
  const calendar = `make_interval(months => ${integerLiteral(months)}, days => ${integerLiteral(days)})`;
  const local = `(date::timestamp + ${offsetAtInstant('date', spans)} - ${calendar})`;
  return `${instantOfLocal(local, spans)} - ${clock}`;
}
