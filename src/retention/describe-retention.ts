/** Lists retention policies and what each would delete now, for `admin retention`. */
import type { Database } from '../platform/database/database.ts';
import { previewRetention } from './preview-retention.ts';
import { findRetention, type RetentionOwner } from './retention.ts';

/**
 * @param accountId id of the account whose policies are listed. Default: the policies of every account.
 * @returns two lines for each policy, the second with its preview; one line when no policy is saved.
 */
export async function describeRetention(database: Database, accountId?: number): Promise<readonly string[]> {
  const { rows } = await database.query<RetentionOwner>(
    `select account_id as "accountId", variable_id as "variableId" from retention
     where $1::int is null or account_id = $1 order by account_id, variable_id nulls first`,
    [accountId],
  );
  const lines: string[] = [];
  for (const owner of rows) {
    const retention = await findRetention(database, owner);
    if (retention) lines.push(...(await describe(database, owner, retention)));
  }
  return lines.length > 0 ? lines : ['no retention policy found; without a policy every point is kept'];
}

async function describe(
  database: Database,
  owner: RetentionOwner,
  retention: NonNullable<Awaited<ReturnType<typeof findRetention>>>,
): Promise<readonly string[]> {
  const { keepRawYears, rollup, timeZoneId, isActive } = retention;
  const name =
    owner.variableId === null
      ? `account ${owner.accountId}`
      : `account ${owner.accountId}, variable ${owner.variableId}`;
  const { boundary, variableCount, pointCount, versionCount, rollupCount, isComplete, countedUntil } =
    await previewRetention(database, owner, retention);
  const state = isActive ? 'active' : 'not active';
  const until = isComplete ? '' : `; only dates before ${countedUntil} were counted`;
  return [
    `${name}: keepRawYears ${keepRawYears}, rollup ${rollup} (${timeZoneId}), ${state}`,
    `  before ${boundary}: variables ${variableCount}, points to delete ${pointCount}, versions to delete ${versionCount}, rollups to insert ${rollupCount}${until}`,
  ];
}
