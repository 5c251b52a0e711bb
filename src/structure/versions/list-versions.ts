/** The VersionTags of a variable and from when to when each was written (R-F8): what a drop-down offers. */
import { type Database, withTransaction } from '../../platform/database/database.ts';

export interface VersionInUse {
  /** VersionTag; null for what has none. */
  readonly version: string | null;
  readonly firstVersionTimestamp: string;
  readonly lastVersionTimestamp: string;
  /** Stored values under it. A date has one of a tag, and may have several without. */
  readonly pointCount: number;
}

const LIST = `
  select version_tag.tag as version, min(first) as "firstVersionTimestamp", max(last) as "lastVersionTimestamp",
         sum(count)::int8 as "pointCount"
  from version_summary,
       unnest(version_tag_ids, first_version_timestamps, last_version_timestamps, version_counts)
         as used (version_tag_id, first, last, count)
       left join version_tag on version_tag.id = used.version_tag_id
  where variable_id = $1
  group by used.version_tag_id, version_tag.tag
  order by max(last) desc, version_tag.tag nulls last`;

/** @returns the newest first. The caller has checked that the variable may be seen. */
export function listVersions(database: Database, variableId: number): Promise<readonly VersionInUse[]> {
  return withTransaction(database, async (transaction) => {
    await transaction.query('select refresh_version_summary($1)', [variableId]);
    const { rows } = await transaction.query<VersionInUse>(LIST, [variableId]);
    return rows;
  });
}
