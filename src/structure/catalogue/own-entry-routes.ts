/** Routes by which managers extend the catalogues of their account (R-C8). */
import { type Context, Hono } from 'hono';
import type { WriteAuditEntry } from '../../identity/audit-writer.ts';
import { type CallerEnv, requireRole } from '../../identity/authentication/authenticate.ts';
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { readJsonBody } from '../../platform/http/http-body.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import { parsePathId } from '../resource-routes.ts';
import { OWN_CATALOGUES, type OwnCatalogue } from './own-catalogues.ts';
import { addEntry, changeEntry, deleteEntry, type OwnEntry } from './own-entries.ts';

type Env = CallerEnv & RequestIdEnv;
type Deed = 'Created' | 'Updated' | 'Deleted';

interface Parts {
  readonly database: Database;
  readonly audit: WriteAuditEntry<`CatalogueEntry${Deed}`>;
}

/**
 * Routes that add (POST), change (PUT) and delete (DELETE) entries of the catalogues that accounts can extend. Mount
 * these routes before the variable routes; `catalogueRoutes` states the reason.
 */
export function ownEntryRoutes(parts: Parts): Hono<Env> {
  const routes = new Hono<Env>();
  const manager = requireRole('MANAGER');
  for (const catalogue of OWN_CATALOGUES) {
    const { path } = catalogue;
    const write = writer(parts, catalogue);
    routes.post(path, manager, async (c) => {
      const body = await readJsonBody(c.req.raw);
      const entry = await write(c, 'Created', (transaction) =>
        addEntry(transaction, c.var.caller.accountId, catalogue, body),
      );
      return c.json(entry);
    });
    routes.put(`${path}/:id`, manager, async (c) => {
      const id = parsePathId(c, 'id');
      const body = await readJsonBody(c.req.raw);
      await write(c, 'Updated', (transaction) => changeEntry(transaction, c.var.caller.accountId, catalogue, id, body));
      return c.body(null, 204);
    });
    routes.delete(`${path}/:id`, manager, async (c) => {
      const id = parsePathId(c, 'id');
      await write(c, 'Deleted', (transaction) => deleteEntry(transaction, c.var.caller.accountId, catalogue, id));
      return c.body(null, 204);
    });
  }
  return routes;
}

/** @returns a function that runs a change of a catalogue entry and writes its audit entry, in one transaction. */
function writer({ database, audit }: Parts, { label }: OwnCatalogue) {
  return (c: Context<Env>, deed: Deed, work: (transaction: Transaction) => Promise<OwnEntry>): Promise<OwnEntry> =>
    withTransaction(database, async (transaction) => {
      const entry = await work(transaction);
      await audit(transaction, c.var, {
        action: `CatalogueEntry${deed}`,
        targetId: String(entry.id),
        targetName: entry.name,
        details: { catalogue: label },
      });
      return entry;
    });
}
