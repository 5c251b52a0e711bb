/** Routes that list the VersionTags of a variable (R-F8) and purge versions beyond a lowered limit (R-F7). */
import { type Context, Hono } from 'hono';
import type { WriteAuditEntry } from '../../identity/audit-writer.ts';
import { type CallerEnv, requireRole } from '../../identity/authentication/authenticate.ts';
import { type Database, withTransaction } from '../../platform/database/database.ts';
import { setTotalCount } from '../../platform/http/listing-response.ts';
import { PAGING, pageOf, toPaging } from '../../platform/http/paging.ts';
import { declareQuery } from '../../platform/http/query.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import { MAX_STATEMENT_MS } from '../../platform/limits.ts';
import { purgeVersions, requestVersionPurge } from '../../points/remove/purge-versions.ts';
import { getResource } from '../resource.ts';
import { parsePathId } from '../resource-routes.ts';
import { VARIABLE } from '../variable.ts';
import { listVersions } from './list-versions.ts';

export const VERSION_LIST = declareQuery(PAGING, { isListing: true });

type Env = CallerEnv & RequestIdEnv;

export interface VersionRouteParts {
  readonly database: Database;
  /** Writes each purge to the audit trail, because purged versions cannot be restored. */
  readonly audit: WriteAuditEntry<'VersionsPurged'>;
}

/** `GET /variables/{id}/versions` and the purge of versions beyond the limit (R-F7, R-F8). */
export function versionRoutes(parts: VersionRouteParts): Hono<Env> {
  const { database } = parts;
  const admin = requireRole('ADMIN');
  return new Hono<Env>()
    .get('/variables/:id/versions', (c) => answerVersions(database, c))
    .post('/variables/:id/purgeVersions', admin, (c) => answerPurge(parts, c))
    .post('/variables/purgeVersions', admin, (c) => answerAccountPurge(parts, c));
}

async function answerVersions(database: Database, c: Context<Env>): Promise<Response> {
  const variableId = parsePathId(c, 'id');
  await getResource(database, VARIABLE, c.var.caller, variableId);
  const versions = await listVersions(database, variableId);
  const paging = toPaging(VERSION_LIST.parse(c.req.url));
  setTotalCount(c, versions.length);
  return c.json(pageOf(versions, paging));
}

/** Purges the versions beyond the version limit of one variable. The answer contains the number of removed versions. */
async function answerPurge({ database, audit }: VersionRouteParts, c: Context<Env>): Promise<Response> {
  const variableId = parsePathId(c, 'id');
  const removed = await withTransaction(
    database,
    async (transaction) => {
      const { name } = await getResource(transaction, VARIABLE, c.var.caller, variableId);
      const purged = await purgeVersions(transaction, [variableId]);
      const details = { removedVersionCount: purged.get(variableId) ?? 0 };
      const target = { targetId: String(variableId), targetName: String(name) };
      await audit(transaction, c.var, { action: 'VersionsPurged', ...target, details });
      return purged;
    },
    // Unlike the purge of an account, which runs in the background, this purge runs within the request and may be slow.
    { statementTimeoutMs: MAX_STATEMENT_MS },
  );
  return c.json({ variableId, removedVersionCount: removed.get(variableId) ?? 0 });
}

/** Requests a background purge of all versioned variables of the account. The answer has the number of variables. */
async function answerAccountPurge({ database, audit }: VersionRouteParts, c: Context<Env>): Promise<Response> {
  const { accountId } = c.var.caller;
  const variableCount = await withTransaction(database, async (transaction) => {
    const { rows } = await transaction.query<{ id: number }>(
      'select id from variable where account_id = $1 and is_versioned order by id',
      [accountId],
    );
    await requestVersionPurge(
      transaction,
      accountId,
      rows.map(({ id }) => id),
    );
    await audit(transaction, c.var, { action: 'VersionsPurged', details: { variableCount: rows.length } });
    return rows.length;
  });
  return c.json({ variableCount });
}
