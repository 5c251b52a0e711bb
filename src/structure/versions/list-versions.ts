/** Lists a variable's VersionTags, each with its first and last VersionTimestamp and its number of values (R-F8). */
import { type Database, withTransaction } from '../../platform/database/database.ts';
import { holdGate } from '../../points/columns/hold-gate.ts';

export interface VersionInUse {
  /** VersionTag; null for values without one. */
  readonly version: string | null;
  readonly firstVersionTimestamp: string;
  readonly lastVersionTimestamp: string;
  /**
   * Number of stored values with this VersionTag. If `version` is null, a date can count several times, because several
   * writes without a VersionTag can each have stored a value for the date.
   */
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

/**
 * Brings the version summary of the variable up to date and reads it (R-F8). The caller must have checked access to the
 * variable.
 * @returns the VersionTags in use, the one with the latest VersionTimestamp first.
 */
export function listVersions(database: Database, variableId: number): Promise<readonly VersionInUse[]> {
  return withTransaction(database, async (transaction) => {
    // The gate keeps chunks from being compressed. Otherwise, the summary could miss points of a chunk and stay wrong.
    await holdGate(transaction);
    await transaction.query('select refresh_version_summary($1)', [variableId]);
    const { rows } = await transaction.query<VersionInUse>(LIST, [variableId]);
    return rows;
  });
}
