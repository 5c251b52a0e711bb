/** The SQL of a selection: which rows of which version, for one variable (R-F5, R-G2). */
import type { Queryable } from '../platform/database.ts';
import type { PointSelection } from './point.ts';

/** A query and the values of its parameters; more may be pushed. */
export interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** Rows of `point`'s columns, one per date: the latest, or the version chosen (R-F5, R-G2). */
export function selectVersions(
  { version, ...selection }: PointSelection,
  variableId: number,
  versionTagIds: readonly number[] | undefined,
): Statement {
  const values: unknown[] = [variableId];
  const instant = (micros: number): string =>
    `to_timestamp(0) + $${values.push(micros)}::int8 * interval '1 microsecond'`;
  const conditions = ['variable_id = $1'];
  if (selection.fromMicros !== undefined) conditions.push(`date >= ${instant(selection.fromMicros)}`);
  if (selection.toMicros !== undefined) {
    conditions.push(`date ${selection.isToIncluded ? '<=' : '<'} ${instant(selection.toMicros)}`);
  }
  if (version.asOfMicros !== undefined) conditions.push(`version_timestamp <= ${instant(version.asOfMicros)}`);
  if (versionTagIds !== undefined) conditions.push(`version_tag_id = any($${values.push(versionTagIds)}::int[])`);
  const where = conditions.join(' and ');
  const isLatest = version.asOfMicros === undefined && versionTagIds === undefined;
  if (isLatest) return { text: `select * from point where ${where}`, values };
  const every = `select * from point where ${where} union all select * from point_version where ${where}`;
  return { text: `select distinct on (date) * from (${every}) version order by date, version_timestamp desc`, values };
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

/** ` limit … offset …` for the end of a statement. */
export function pagingClause({ limit, offset }: PointSelection, values: unknown[]): string {
  const limitClause = limit === undefined ? '' : ` limit $${values.push(limit)}`;
  return offset ? `${limitClause} offset $${values.push(offset)}` : limitClause;
}
