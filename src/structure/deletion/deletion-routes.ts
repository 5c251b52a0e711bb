/**
 * `DELETE` of sites, sources and variables (R-C7), and `GET /deletions/{id}`, by which clients follow a hard deletion.
 */
import { type Context, Hono } from 'hono';
import type { WriteAuditEntry } from '../../identity/audit-writer.ts';
import { type CallerEnv, requireRole } from '../../identity/authentication/authenticate.ts';
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import { getResource, lockResource, type Resource } from '../resource.ts';
import { assertInPath, parsePathId } from '../resource-routes.ts';
import { HARD_DELETE } from '../structure-queries.ts';
import { getDeletion, startDeletion } from './deletions.ts';

/** Writes a deletion to the audit trail. Creations and changes are not audited: events announce them. */
export type AuditRemoval = WriteAuditEntry<`${Resource['kind']}Deleted`>;

/**
 * Deletes a site, source or variable.
 * @param hard the job of a hard deletion, which also deletes everything below the resource; null for a normal deletion,
 *   which is refused when the resource has children or a calculated variable reads it.
 */
export type Remove = (
  transaction: Transaction,
  accountId: number,
  id: number,
  hard: { readonly deletionId: string } | null,
) => Promise<void>;

type Env = CallerEnv & RequestIdEnv;

interface Parts {
  readonly database: Database;
  readonly audit: AuditRemoval;
}

/**
 * @returns the handler of `DELETE`. It answers 204; with `hardDelete=true`, the header `Location` names the job that
 * removes the points. When a hard deletion concerns more than 500 sources and variables in total, this job also deletes
 * the sources and variables, and the answer is 202 instead (R-C7).
 */
export function deleteHandler({ database, audit }: Parts, resource: Resource, remove: Remove) {
  return async (c: Context<Env>) => {
    const id = parsePathId(c, 'id');
    const { hardDelete: isHard } = HARD_DELETE.parse(c.req.url);
    const { caller } = c.var;
    const started = await withTransaction(database, async (transaction) => {
      await lockResource(transaction, resource, caller, id, 'update');
      const item = await getResource(transaction, resource, caller, id);
      assertInPath(c, resource, item);
      const target = { kind: resource.kind, targetId: id, targetName: String(item.name) };
      const { accountId, userName } = caller;
      const deletion = isHard ? await startDeletion(transaction, { ...target, accountId, userName }) : undefined;
      if (!deletion?.isLarge) {
        await remove(transaction, accountId, id, deletion ? { deletionId: deletion.id } : null);
      }
      if (deletion?.isRepeated) return deletion;
      const entry = { action: `${resource.kind}Deleted`, targetId: String(id), targetName: String(item.name) } as const;
      await audit(transaction, c.var, { ...entry, details: { hardDelete: isHard } });
      return deletion;
    });
    if (started) c.header('Location', `/deletions/${started.id}`);
    if (!started?.isLarge) return c.body(null, 204);
    return c.json(await getDeletion(database, caller.accountId, started.id), 202);
  };
}

/** Routes of `GET /deletions/{id}` (R-C7). */
export function deletionRoutes(database: Database): Hono<CallerEnv> {
  return new Hono<CallerEnv>().get('/deletions/:id', requireRole('MANAGER'), async (c) =>
    c.json(await getDeletion(database, c.var.caller.accountId, c.req.param('id'))),
  );
}
