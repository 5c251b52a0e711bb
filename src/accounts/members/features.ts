/**
 * Features and secondary accesses (§4.1, §4.2, R-C3) tell a front end what to offer a user. The service only stores and
 * returns them; what a user may do in the service depends on roles, permissions and site access.
 */
import type { Queryable } from '../../platform/database/database.ts';
import { invalidInput } from '../../platform/http/lenient.ts';
import { BUILT_IN_TYPES, listOwnEntries } from '../../structure/catalogue/list-types.ts';
import { shown, type WrittenFeature } from '../field-schemas.ts';

export type FeatureKind = 'Feature' | 'SecondaryAccess';
export type FeatureLevel = 'None' | 'Read' | 'Write' | 'Admin';

export interface UserFeature {
  readonly id: number;
  readonly name: string;
  readonly level: FeatureLevel;
}

const SECONDARY_ACCESSES = ['Api', 'Push', 'Grpc', 'Export'].map((name, index) => ({ id: index + 1, name }));
const RANK: Readonly<Record<FeatureLevel, number>> = { None: 0, Read: 1, Write: 2, Admin: 3 };

const LEVELS = `'{${Object.keys(RANK).join()}}'::text[]`;
/**
 * SQL of the user's level of a feature. The level is at most the feature's level in the account, which the operator may
 * have lowered. `f` is a row of `user_feature`.
 */
export const USER_LEVEL = `(${LEVELS})[least(array_position(${LEVELS}, f.level), array_position(${LEVELS}, (
  select a.level from account_feature a
  where a.account_id = f.account_id and a.kind = f.kind and a.feature_id = f.feature_id)))]`;

interface LevelRow {
  readonly id: number;
  readonly level: FeatureLevel;
}

/** @returns every feature with its level in the account: Admin, unless the operator has set a lower level (§4.1). */
export async function listAccountFeatures(
  database: Queryable,
  accountId: number,
  kind: FeatureKind,
): Promise<readonly UserFeature[]> {
  const { rows } = await database.query<LevelRow>(
    'select feature_id as id, level from account_feature where account_id = $1 and kind = $2',
    [accountId, kind],
  );
  return withLevels(kind, rows, 'Admin', await listOwnFeatures(database, accountId, kind));
}

/**
 * @returns all features, each with the user's level in the account. The level is `None` for a feature that was not
 *   granted (§4.2).
 */
export async function listUserFeatures(
  database: Queryable,
  accountId: number,
  userId: string,
  kind: FeatureKind,
): Promise<readonly UserFeature[]> {
  const { rows } = await database.query<LevelRow>(
    `select feature_id as id, ${USER_LEVEL} as level from user_feature f
     where account_id = $1 and user_id = $2 and kind = $3`,
    [accountId, userId, kind],
  );
  return withLevels(kind, rows, 'None', await listOwnFeatures(database, accountId, kind));
}

/**
 * @returns the entries of this kind that the account added; none for secondary accesses, because all of them are built
 *   in.
 */
async function listOwnFeatures(
  database: Queryable,
  accountId: number,
  kind: FeatureKind,
): Promise<readonly NamedFeature[]> {
  return kind === 'Feature' ? listOwnEntries(database, accountId, 'Feature') : [];
}

type NamedFeature = Pick<UserFeature, 'id' | 'name'>;

/**
 * Lists all features with their levels.
 * @param rows the stored levels.
 * @param defaultLevel level of features without a row.
 * @param own the account's own features, which follow the built-in ones.
 */
export function withLevels(
  kind: FeatureKind,
  rows: readonly LevelRow[],
  defaultLevel: FeatureLevel,
  own: readonly NamedFeature[],
): readonly UserFeature[] {
  const levels = new Map(rows.map(({ id, level }) => [id, level]));
  const builtIn = kind === 'Feature' ? BUILT_IN_TYPES.Feature : SECONDARY_ACCESSES;
  return [...builtIn, ...own].map(({ id, name }) => ({
    id,
    name,
    level: levels.get(id) ?? defaultLevel,
  }));
}

/**
 * Sets a user's levels of the features in `written`; the levels of other features stay as they are (§4.2).
 * @param root JSON path of `written` in the request body, for error messages.
 * @throws {DomainError} invalid_input for an unknown feature, or a level above the feature's level in the account.
 */
export async function saveUserFeatures(
  database: Queryable,
  accountId: number,
  userId: string,
  kind: FeatureKind,
  written: readonly WrittenFeature[],
  root = '$',
): Promise<void> {
  const limits = await listAccountFeatures(database, accountId, kind);
  const levels = new Map<number, FeatureLevel>();
  const problems = written.flatMap((feature, index) => {
    const limit = findFeature(limits, feature);
    const path = `${root}[${index}]`;
    if (!limit) {
      const names = limits.map(({ name }) => name).join(', ');
      const given = shown(feature.id ?? feature.name ?? undefined);
      return [{ path, message: `must name one of ${names}, got ${given}` }];
    }
    if (RANK[feature.level] > RANK[limit.level]) {
      return [
        { path: `${path}.level`, message: `must be at most ${limit.level} in this account, got ${feature.level}` },
      ];
    }
    levels.set(limit.id, feature.level);
    return [];
  });
  if (problems.length > 0) throw invalidInput(problems);
  await database.query(
    `insert into user_feature (account_id, user_id, kind, feature_id, level)
     select $1, $2, $3, * from unnest($4::int[], $5::text[])
     on conflict (account_id, user_id, kind, feature_id) do update set level = excluded.level`,
    [accountId, userId, kind, [...levels.keys()], [...levels.values()]],
  );
}

function findFeature(features: readonly UserFeature[], { id, name }: WrittenFeature): UserFeature | undefined {
  if (typeof id === 'number') return features.find((feature) => feature.id === id);
  return features.find((feature) => feature.name.toLowerCase() === name?.toLowerCase());
}
