/** The SQL of a selection: which rows of which version, for one variable (R-F5, R-G2). */

import type { Queryable } from '../platform/database.ts';
import { isStorableText } from '../platform/storable-text.ts';
import type { LinearScale, PointSelection, VersionChoice } from './point.ts';
import { doubleLiteral, instantLiteral, integerArrayLiteral, integerLiteral, textLiteral } from './sql-literal.ts';

/** Rows of `point`'s columns: of each date the version chosen, or all that are left by the choice (R-F5, R-G2). */
export function selectVersions(
  selection: PointSelection,
  variableId: number,
  versionTagIds: readonly number[] | undefined,
): string {
  const { version } = selection;
  const narrowing = [
    ...(version.asOfMicros === undefined ? [] : [`version_timestamp <= ${instantLiteral(version.asOfMicros)}`]),
    ...(version.horizon === undefined ? [] : [`version_timestamp <= ${horizonBefore(version.horizon)}`]),
    ...(versionTagIds === undefined ? [] : [`version_tag_id = any(${integerArrayLiteral(versionTagIds)})`]),
    ...(version.tags === undefined ? [] : [`tag_set_id in (${selectTagSets(version.tags, variableId)})`]),
  ];
  const where = [...periodConditions(selection, variableId), ...narrowing].join(' and ');
  const columns = selectList(selection.scales?.get(variableId));
  const current = `select ${columns} from point where ${where}`;
  if (!version.isEvery && narrowing.length === 0) return current;
  const every = `${current} union all select ${columns} from point_version where ${where}`;
  if (version.isEvery) return every;
  return `select distinct on (date) * from (${every}) version order by date, version_timestamp desc`;
}

/** Ids of the VersionTags chosen; undefined when any version will do. All variables are of one account. */
export async function findVersionTagIds(
  queryable: Queryable,
  { version: { versionTags }, variableIds }: PointSelection,
): Promise<readonly number[] | undefined> {
  if (versionTags === undefined) return undefined;
  const { rows } = await queryable.query<{ id: number }>(
    `select id from version_tag
     where account_id = (select account_id from variable where id = $1) and tag = any($2::text[])`,
    [variableIds[0] ?? 0, versionTags],
  );
  return rows.map(({ id }) => id);
}

/** How rows follow one another, for the end of a statement. */
export function orderClause({ order, version }: PointSelection): string {
  const direction = order === 'DESC' ? 'desc' : 'asc';
  return version.isEvery ? `order by date ${direction}, version_timestamp ${direction}` : `order by date ${direction}`;
}

/** ` limit … offset …` for the end of a statement. */
export function pagingClause({ limit, offset }: PointSelection): string {
  const limitClause = limit === undefined ? '' : ` limit ${integerLiteral(limit)}`;
  return offset ? `${limitClause} offset ${integerLiteral(offset)}` : limitClause;
}

function periodConditions({ fromMicros, toMicros, isToIncluded }: PointSelection, variableId: number): string[] {
  return [
    `variable_id = ${integerLiteral(variableId)}`,
    ...(fromMicros === undefined ? [] : [`date >= ${instantLiteral(fromMicros)}`]),
    ...(toMicros === undefined ? [] : [`date ${isToIncluded ? '<=' : '<'} ${instantLiteral(toMicros)}`]),
  ];
}

function selectList(scale: LinearScale | undefined): string {
  const value = scale ? `value * ${doubleLiteral(scale.factor)} + ${doubleLiteral(scale.shift)} as value` : 'value';
  return `date, ${value}, version_timestamp, variable_id, version_tag_id, tag_set_id`;
}

/**
 * The instant by which a version of a date had to be known: months and days back on the zone's calendar, the rest on
 * the clock. A local time that comes twice is the later one, one that is skipped is moved forward by the gap (R-D4).
 */
function horizonBefore({ duration, timeZoneId }: NonNullable<VersionChoice['horizon']>): string {
  const { months, days, micros } = duration;
  const clock = `${integerLiteral(micros)} * interval '1 microsecond'`;
  if (months === 0 && days === 0) return `date - ${clock}`;
  const calendar = `make_interval(months => ${integerLiteral(months)}, days => ${integerLiteral(days)})`;
  const zone = textLiteral(timeZoneId);
  return `((date at time zone ${zone}) - ${calendar}) at time zone ${zone} - ${clock}`;
}

/** Ids of the tag sets of the variable's account that have all of the tags. */
function selectTagSets(tags: NonNullable<VersionChoice['tags']>, variableId: number): string {
  // A text that cannot be stored is in nobody's tags.
  if (!tags.flat().every(isStorableText)) return 'select null::int';
  const account = `(select account_id from variable where id = ${integerLiteral(variableId)})`;
  const wanted = tags.map((tag) => `tags @> ${textLiteral(JSON.stringify(Object.fromEntries([tag])))}::jsonb`);
  return `select id from tag_set where ${[`account_id = ${account}`, ...wanted].join(' and ')}`;
}
