/** Lists users (§4.3): of one account, or of every account the caller may use. */
import type { Queryable } from '../../platform/database/database.ts';
import type { Listing } from '../../platform/streaming/stream-listing.ts';
import {
  type InfoScope,
  IS_ALLOWED_ACCOUNT,
  LEVEL_COLUMNS,
  toUser,
  type UserDisplayLevel,
  type UserInfoLight,
} from '../users/user-info.ts';
import type { BusinessKeyName, UserFilter } from './user-search.ts';

export interface UserSelection {
  readonly scope: InfoScope;
  readonly level: UserDisplayLevel;
  /** A user must match all of these filters. */
  readonly filters: readonly UserFilter[];
}

/** A listing of users, sorted by user name. `count` counts the users of all pages. */
export interface UserListing extends Listing<string, UserInfoLight> {
  readonly count: (queryable: Queryable) => Promise<number>;
}

/**
 * SQL that estimates the size in bytes of a user's JSON at each level. `u` is the user; parameter 3 is the account.
 */
const BYTES: Readonly<Record<UserDisplayLevel, string>> = {
  Light: '1000',
  Normal: '1500',
  Verbose: `(5000
    + coalesce((select sum(300 + octet_length(c.claim_value)) from user_claim c
                where c.account_id = $3 and c.user_id = u.id), 0)
    + coalesce((select sum(60 + 11 * coalesce(cardinality(x.source_ids), 0)) from site_access x
                where x.user_id = u.id), 0)
    + 300 * (select count(*) from account_member m where m.user_id = u.id))::int8`,
};

const BUSINESS_KEY_CONDITIONS: Readonly<Record<BusinessKeyName, (values: string) => string>> = {
  Id: (values) => `u.id = any(${values})`,
  Username: (values) => `lower(u.user_name) = any(array(select lower(v) from unnest(${values}) v))`,
  BusinessId: (values) => `u.business_id = any(${values})`,
};

/** Lists the users of the account `selection.scope.accountId`, sorted by user name (§4.3). */
export function listUsersOfAccount(selection: UserSelection): UserListing {
  const isMember = 'exists (select from account_member m where m.account_id = $3 and m.user_id = u.id)';
  return listUsers(selection, () => isMember, '');
}

/**
 * Lists the users of every account the caller may use, sorted by user name (§4.3). A user is listed with only
 * those accounts that the caller may use.
 * @param accountIds the accounts whose users are listed; empty means every account the caller may use.
 */
export function listVisibleUsers(selection: UserSelection, accountIds: readonly number[]): UserListing {
  const seen = `select m.account_id from account_member m join account a on a.id = m.account_id
    where m.user_id = u.id and ${IS_ALLOWED_ACCOUNT}`;
  const among = (values: unknown[]) =>
    accountIds.length > 0 ? ` and m.account_id = any($${values.push(accountIds)}::int[])` : '';
  const columns = `, array(${seen} order by 1) as "accountIds"`;
  return listUsers(selection, (values) => `exists (${seen}${among(values)})`, columns);
}

function listUsers(
  { scope, level, filters }: UserSelection,
  belongs: (values: unknown[]) => string,
  moreColumns: string,
): UserListing {
  const { caller, accountId } = scope;
  const values: unknown[] = [caller.userId, caller.role, accountId];
  const conditions = [belongs(values), ...filters.flatMap((filter) => filterConditions(filter, values))];
  // Every statement contains this condition, because PostgreSQL needs a type for each of the parameters 1 to 3, and
  // cannot infer the type of a parameter that a statement does not use.
  const typed = '$1::text is not null and $2::text is not null and $3::int is not null';
  const where = `${typed} and ${conditions.join(' and ')}`;
  const order = 'order by lower(u.user_name), u.id';
  return {
    keys: `select u.id as key, ${BYTES[level]} as bytes from app_user u where ${where} ${order}`,
    values,
    read: async (queryable, ids) => {
      const { rows } = await queryable.query<Record<string, unknown>>(
        `select ${LEVEL_COLUMNS[level]}${moreColumns} from app_user u where ${typed} and u.id = any($4::text[]) ${order}`,
        [...values.slice(0, 3), ids],
      );
      return rows.map((row) => toUser(level, row));
    },
    count: async (queryable) => {
      const { rows } = await queryable.query<{ count: number }>(`select count(*) from app_user u where ${where}`, [
        ...values,
      ]);
      return rows[0]?.count ?? 0;
    },
  };
}

function filterConditions({ searchText, claims, roles, businessKeys }: UserFilter, values: unknown[]): string[] {
  const conditions: string[] = [];
  // Each word may match a different name: "Muster Max" finds Max Muster.
  for (const word of (searchText ?? '').split(/\s+/).filter(Boolean)) {
    conditions.push(`u.search_text like '%' || fold_text($${values.push(escapeLike(word))}) || '%'`);
  }
  for (const { claimType, claimValue } of claims ?? []) {
    const value = claimValue ? ` and c.claim_value = $${values.push(claimValue)}` : '';
    conditions.push(`exists (select from user_claim c where c.account_id = $3 and c.user_id = u.id
      and c.claim_type = $${values.push(claimType)}${value})`);
  }
  if (roles && roles.length > 0) {
    conditions.push(`u.role = any($${values.push(roles.map((role) => role.trim().toUpperCase()))})`);
  }
  const keys = businessKeys?.values ?? [];
  if (businessKeys?.name && keys.length > 0) {
    conditions.push(BUSINESS_KEY_CONDITIONS[businessKeys.name](`$${values.push(keys)}::text[]`));
  }
  return conditions;
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
