/** Finds the dictionary ids of the VersionTags and tags of a selection (R-G2) before its rows are read. */
import type { Queryable } from '../../platform/database/database.ts';
import { isStorableText } from '../../platform/database/storable-text.ts';
import type { PointSelection, VersionChoice } from '../point.ts';

/** Dictionary ids of the labels in a selection; an undefined member does not restrict the rows. */
export interface ChosenLabels {
  readonly versionTagIds: readonly number[] | undefined;
  /** Array literal of PostgreSQL, such as `{1,2}`; it can be very long. */
  readonly tagSetIds: string | undefined;
}

/** The `ChosenLabels` of a selection without VersionTags and without tags (`needsLabels` returns false). */
export const NO_LABELS: ChosenLabels = { versionTagIds: undefined, tagSetIds: undefined };

/** Returns true when VersionTags or tags restrict the selection. */
export function needsLabels({ version: { versionTags, tags = [] } }: PointSelection): boolean {
  return versionTags !== undefined || tags.length > 0;
}

/** Returns true when no row can match the labels of the selection (R-G2). */
export function isNothingChosen({ versionTagIds, tagSetIds }: ChosenLabels): boolean {
  return versionTagIds?.length === 0 || tagSetIds === '{}';
}

/** Finds the label ids that restrict a selection (R-G2). All variables of the selection must belong to one account. */
export async function findChosenLabels(
  queryable: Queryable,
  { version, variableIds: [variableId = 0] }: PointSelection,
): Promise<ChosenLabels> {
  const { versionTags, tags } = version;
  return {
    versionTagIds: versionTags && (await findVersionTagIds(queryable, variableId, versionTags)),
    tagSetIds: tags && tags.length > 0 ? await findTagSetIds(queryable, variableId, tags) : undefined,
  };
}

const ACCOUNT = '(select account_id from variable where id = $1)';

async function findVersionTagIds(
  queryable: Queryable,
  variableId: number,
  versionTags: readonly string[],
): Promise<readonly number[]> {
  const { rows } = await queryable.query<{ id: number }>(
    `select id from version_tag where account_id = ${ACCOUNT} and tag = any($2::text[])`,
    [variableId, versionTags.filter(isStorableText)],
  );
  return rows.map(({ id }) => id);
}

/**
 * Finds the tag sets that have all requested tags. Finds none when two requested tags have the same key but different
 * values, or when the database cannot store a requested key or value.
 */
async function findTagSetIds(
  queryable: Queryable,
  variableId: number,
  tags: NonNullable<VersionChoice['tags']>,
): Promise<string> {
  const wanted = new Map(tags);
  const isPossible = tags.every(([key, value]) => wanted.get(key) === value && [key, value].every(isStorableText));
  if (!isPossible) return '{}';
  const { rows } = await queryable.query<{ ids: string }>(
    `select coalesce(array_agg(id), '{}')::text as ids from tag_set where account_id = ${ACCOUNT} and tags @> $2::jsonb`,
    [variableId, JSON.stringify(Object.fromEntries(wanted))],
  );
  return rows[0]?.ids ?? '{}';
}
