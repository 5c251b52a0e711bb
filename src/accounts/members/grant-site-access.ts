import type { Queryable } from '../../platform/database/database.ts';

export type SiteAccessLevel = 'Read' | 'Write' | 'Admin';

export interface SiteAccess {
  readonly userId: string;
  readonly siteId: number;
  readonly level: SiteAccessLevel;
}

/** Lets a USER see a site and all in it (R-B9), replacing an earlier grant. */
export async function grantSiteAccess(database: Queryable, { userId, siteId, level }: SiteAccess): Promise<void> {
  await database.query(
    `insert into site_access (user_id, site_id, level) values ($1, $2, $3)
     on conflict (user_id, site_id) do update set level = excluded.level, source_ids = null`,
    [userId, siteId, level],
  );
}
