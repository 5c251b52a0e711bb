/** Site access of users: which sites of an account a USER may read and push to (R-B9, R-C3). */
import type { Queryable } from '../../platform/database/database.ts';
import type { ErrorDetail } from '../../platform/errors.ts';
import { invalidInput } from '../../platform/http/lenient.ts';
import type { WrittenSite } from '../field-schemas.ts';

/**
 * Grants a user access to sites, and replaces the user's earlier grants of these sites (R-C3).
 * @param root JSON path of the list `sites` in the request, for error messages.
 * @throws {DomainError} invalid_input when a site does not belong to the account, or when a source does not belong to
 * the site for which it is listed.
 */
export async function writeUserSites(
  database: Queryable,
  accountId: number,
  userId: string,
  sites: readonly WrittenSite[],
  root = '$',
): Promise<void> {
  await assertSites(database, accountId, sites, root);
  // When `sites` lists a site several times, only the last grant counts.
  const grants = new Map(sites.map(({ siteId, level, sourceIds = null }) => [siteId, { siteId, level, sourceIds }]));
  await database.query(
    `insert into site_access (user_id, site_id, level, source_ids)
     select $1, g."siteId", g.level, g."sourceIds"
     from jsonb_to_recordset($2) g ("siteId" int, level text, "sourceIds" int[])
     on conflict (user_id, site_id) do update set level = excluded.level, source_ids = excluded.source_ids`,
    [userId, JSON.stringify([...grants.values()])],
  );
}

/**
 * Requires that every site belongs to the account, and that every source belongs to the site that lists it (R-B9, R-C3).
 * @throws {DomainError} invalid_input for sites of other accounts, and for sources of other sites.
 */
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
  problems.push(...(await findSourceProblems(database, accountId, sites, root)));
  if (problems.length > 0) throw invalidInput(problems);
}

async function findSourceProblems(
  database: Queryable,
  accountId: number,
  sites: readonly WrittenSite[],
  root: string,
): Promise<readonly ErrorDetail[]> {
  const { rows } = await database.query<{ id: number; siteId: number }>(
    'select id, site_id as "siteId" from source where account_id = $1 and id = any($2::int[])',
    [accountId, sites.flatMap(({ sourceIds }) => sourceIds ?? [])],
  );
  const siteOf = new Map(rows.map(({ id, siteId }) => [id, siteId]));
  return sites.flatMap(({ siteId, sourceIds }, index) =>
    (sourceIds ?? []).flatMap((id, sourceIndex) =>
      siteOf.get(id) === siteId
        ? []
        : [{ path: `${root}[${index}].sourceIds[${sourceIndex}]`, message: `site ${siteId} has no source ${id}` }],
    ),
  );
}

/** Revokes the user's access to each site in `siteIds` that belongs to the account (R-C3). */
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

/**
 * Gives the user access to `sites`, and revokes access to all other sites of the account (R-C3).
 * @throws {DomainError} invalid_input in the same cases as `assertSites`.
 */
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
