/** Which sites of an account a USER reaches (R-B9, R-C3). */
import type { Queryable } from '../../platform/database.ts';
import { invalidInput } from '../../platform/lenient.ts';
import type { WrittenSite } from '../field-schemas.ts';

/**
 * Grants sites, replacing earlier levels.
 * @throws DomainError invalid_input for sites that are not the account's, whether they exist or not.
 */
export async function writeUserSites(
  database: Queryable,
  accountId: number,
  userId: string,
  sites: readonly WrittenSite[],
  root = '$',
): Promise<void> {
  const levels = new Map(sites.map(({ siteId, level }) => [siteId, level]));
  await assertSites(database, accountId, sites, root);
  await database.query(
    `insert into site_access (user_id, site_id, level) select $1, * from unnest($2::int[], $3::text[])
     on conflict (user_id, site_id) do update set level = excluded.level`,
    [userId, [...levels.keys()], [...levels.values()]],
  );
}

/** @throws DomainError invalid_input for sites that are not the account's. */
export async function assertSites(
  database: Queryable,
  accountId: number,
  sites: readonly WrittenSite[],
  root: string,
): Promise<void> {
  const { rows } = await database.query<{ id: number }>(
    'select id from site where account_id = $1 and id = any($2::int[])',
    [accountId, sites.map(({ siteId }) => siteId)],
  );
  const known = new Set(rows.map(({ id }) => id));
  const problems = sites.flatMap(({ siteId }, index) =>
    known.has(siteId) ? [] : [{ path: `${root}[${index}].siteId`, message: `site ${siteId} does not exist` }],
  );
  if (problems.length > 0) throw invalidInput(problems);
}

/** Takes sites of the account away; others are left alone. */
export async function removeUserSites(
  database: Queryable,
  accountId: number,
  userId: string,
  siteIds: readonly number[],
): Promise<void> {
  await database.query(
    `delete from site_access using site
     where user_id = $1 and site_id = any($2::int[]) and site.id = site_id and site.account_id = $3`,
    [userId, siteIds, accountId],
  );
}

/** Makes these the only sites of the account the user reaches. */
export async function replaceUserSites(
  database: Queryable,
  accountId: number,
  userId: string,
  sites: readonly WrittenSite[],
  root: string,
): Promise<void> {
  await database.query(
    `delete from site_access using site
     where user_id = $1 and not site_id = any($2::int[]) and site.id = site_id and site.account_id = $3`,
    [userId, sites.map(({ siteId }) => siteId), accountId],
  );
  await writeUserSites(database, accountId, userId, sites, root);
}
