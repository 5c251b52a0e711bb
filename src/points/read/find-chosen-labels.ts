/** The labels a reader chooses by (R-G2) as ids of the dictionaries, found before the rows are read. */
import type { Queryable } from '../../platform/database/database.ts';
import { isStorableText } from '../../platform/database/storable-text.ts';
import type { PointSelection, VersionChoice } from '../point.ts';

/** Undefined: any will do. */
export interface ChosenLabels {
  readonly versionTagIds: readonly number[] | undefined;
  /** As text of an array, `{1,2}`: there may be very many. */
  readonly tagSetIds: string | undefined;
}

/** Whether the choice can have no result at all. */
export function isNothingChosen({ versionTagIds, tagSetIds }: ChosenLabels): boolean {
  return versionTagIds?.length === 0 || tagSetIds === '{}';
}

/** All variables of a selection are of one account. */
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

/** Tag sets that have all of the tags. A text that cannot be stored is in nobody's, nor are two values of one key. */
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
