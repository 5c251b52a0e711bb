/** The user object in answers (R-C2): the members at each display level, limited to what the caller may see. */
import type { Caller } from '../../identity/caller/caller.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { ClaimOfUser } from '../members/claims.ts';
import { type FeatureKind, type FeatureLevel, USER_LEVEL, type UserFeature, withLevels } from '../members/features.ts';

export type UserDisplayLevel = 'Light' | 'Normal' | 'Verbose';
export const USER_DISPLAY_LEVEL: Readonly<Record<UserDisplayLevel, number>> = { Light: 0, Normal: 1, Verbose: 2 };

export interface UserInfoLight {
  readonly id: string;
  readonly userName: string;
  readonly pseudo: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

/** The id of a role equals its name (§5). */
export interface RoleInfo {
  readonly id: string;
  readonly name: string;
}

export interface UserLight extends UserInfoLight {
  readonly email: string | null;
  readonly roles: readonly RoleInfo[];
  readonly businessId: string | null;
}

export interface UserInfo extends UserInfoLight {
  readonly email: string | null;
  readonly phoneNumber: string | null;
  readonly language: string;
  readonly roles: readonly RoleInfo[];
  readonly claims: readonly ClaimOfUser[];
  readonly features: readonly UserFeature[];
  readonly secondaryAccesses: readonly UserFeature[];
  /** `sourceIds` lists the accessible sources of a site. Without `sourceIds`, the access covers the whole site. */
  readonly sites: readonly {
    readonly siteId: number;
    readonly level: string;
    readonly sourceIds?: readonly number[];
  }[];
  readonly businessKeys: { readonly id: string; readonly username: string; readonly businessId: string | null };
  readonly isLocked: boolean;
  readonly lockedUntil: string | null;
  /** The user's accounts, limited to those that the caller may use. */
  readonly accounts: readonly { readonly id: number; readonly name: string }[];
  readonly createdDate: string;
  readonly lastLoginDate: string | null;
}

/** The caller who reads a user, and the account for which the user's claims, features and sites are shown. */
export interface InfoScope {
  readonly caller: Caller;
  readonly accountId: number;
}

interface FeatureRow {
  readonly kind: FeatureKind;
  readonly id: number;
  readonly level: FeatureLevel;
}

type InfoRow = Omit<UserInfo, 'features' | 'secondaryAccesses'> & {
  readonly featureRows: readonly FeatureRow[];
  readonly ownFeatures: readonly Pick<UserFeature, 'id' | 'name'>[];
};

const LIGHT = `u.id, u.user_name as "userName", u.pseudo, u.first_name as "firstName", u.last_name as "lastName"`;
/**
 * SQL expression: the instant at which the last of the user's network locks ends. A network lock refuses sign-ins from
 * one network after too many wrong passwords (R-B11).
 */
const NETWORK_LOCK = '(select max(locked_until) from sign_in_source where user_id = u.id)';
const ROLES = `jsonb_build_array(jsonb_build_object('id', u.role, 'name', u.role)) as roles`;

/** SQL condition on an account `a`: the caller may use it. Parameters: 1 the caller, 2 the caller's role. */
export const IS_ALLOWED_ACCOUNT = `($2 = 'ADMIN' or exists (
  select from account_member mine where mine.account_id = a.id and mine.user_id = $1))`;

const list = (item: string, from: string, order: string) =>
  `coalesce((select jsonb_agg(${item} order by ${order}) from ${from}), '[]')`;

/** SQL of the ids of the granted sources that still belong to the site. Null means all sources of the site. */
const GRANTED_SOURCES = `case when x.source_ids is not null then array(
  select o.id from source o where o.site_id = s.id and o.id = any(x.source_ids) order by o.id) end`;

/** SQL columns of each level. Parameters: 1 the caller, 2 the caller's role, 3 the account. */
export const LEVEL_COLUMNS: Readonly<Record<UserDisplayLevel, string>> = {
  Light: LIGHT,
  Normal: `${LIGHT}, u.email, ${ROLES}, u.business_id as "businessId"`,
  Verbose: `${LIGHT}, u.email, u.phone_number as "phoneNumber", u.language, ${ROLES},
    ${list(
      `jsonb_build_object('id', 0, 'userId', c.user_id, 'claimType', c.claim_type, 'claimValue', c.claim_value)`,
      'user_claim c where c.account_id = $3 and c.user_id = u.id',
      'c.claim_type',
    )} as claims,
    ${list(
      `jsonb_build_object('kind', f.kind, 'id', f.feature_id, 'level', ${USER_LEVEL})`,
      'user_feature f where f.account_id = $3 and f.user_id = u.id',
      'f.feature_id',
    )} as "featureRows",
    ${list(
      `jsonb_build_object('id', e.id, 'name', e.name)`,
      `catalogue_entry e where e.account_id = $3 and e.catalogue = 'Feature'`,
      'e.id',
    )} as "ownFeatures",
    ${list(
      `jsonb_strip_nulls(jsonb_build_object('siteId', s.id, 'level', x.level, 'sourceIds', ${GRANTED_SOURCES}))`,
      'site_access x join site s on s.id = x.site_id where s.account_id = $3 and x.user_id = u.id',
      's.id',
    )} as sites,
    jsonb_build_object('id', u.id, 'username', u.user_name, 'businessId', u.business_id) as "businessKeys",
    (u.is_locked and coalesce(u.locked_until > now(), true)) or coalesce(greatest(u.sign_in_locked_until, ${NETWORK_LOCK}) > now(), false)
      as "isLocked",
    case when u.is_locked and u.locked_until is null then null
         else nullif(greatest(case when u.is_locked then u.locked_until end, u.sign_in_locked_until, ${NETWORK_LOCK},
                              '-infinity'::timestamptz), '-infinity'::timestamptz) end as "lockedUntilOrPast",
    ${list(
      `jsonb_build_object('id', a.id, 'name', a.name)`,
      `account_member m join account a on a.id = m.account_id where m.user_id = u.id and ${IS_ALLOWED_ACCOUNT}`,
      'a.id',
    )} as accounts,
    u.created_date as "createdDate", u.last_login_date as "lastLoginDate"`,
};

/** Converts a database row, which has the columns of `level`, to the user object of an answer. */
export function toUser(level: UserDisplayLevel, row: Readonly<Record<string, unknown>>): UserInfoLight {
  if (level !== 'Verbose') return row as unknown as UserInfoLight;
  const { featureRows, ownFeatures, lockedUntilOrPast, ...info } = row as unknown as InfoRow & {
    lockedUntilOrPast: string | null;
  };
  const featuresOf = (kind: FeatureKind) =>
    withLevels(
      kind,
      featureRows.filter((feature) => feature.kind === kind),
      'None',
      kind === 'Feature' ? ownFeatures : [],
    );
  const lockedUntil = info.isLocked ? lockedUntilOrPast : null;
  const shown: UserInfo = {
    ...info,
    lockedUntil,
    features: featuresOf('Feature'),
    secondaryAccesses: featuresOf('SecondaryAccess'),
  };
  return shown;
}

/**
 * Reads a user at level Verbose (R-C2). Call `getTargetUser` first, which checks that the caller may see the user.
 * @throws {DomainError} not_found when the user does not exist
 */
export async function getUserInfo(database: Queryable, { caller, accountId }: InfoScope, userId: string) {
  const { rows } = await database.query<Record<string, unknown>>(
    `select ${LEVEL_COLUMNS.Verbose} from app_user u where u.id = $4`,
    [caller.userId, caller.role, accountId, userId],
  );
  const [row] = rows;
  if (!row) throw new DomainError('not_found', `user ${userId} does not exist`);
  return toUser('Verbose', row) as UserInfo;
}
