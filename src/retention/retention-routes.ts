/** Routes of retention policies: `/account/retention`, `/variables/{id}/retention` and their previews. */
import { type Context, Hono } from 'hono';
import type { WriteAuditEntry } from '../identity/audit-writer.ts';
import { type CallerEnv, requireRole } from '../identity/authentication/authenticate.ts';
import { type Database, withTransaction } from '../platform/database/database.ts';
import { readJsonBody } from '../platform/http/http-body.ts';
import { parseInput } from '../platform/http/lenient.ts';
import { declareQuery } from '../platform/http/query.ts';
import { choiceParameter, integerParameter, textParameter } from '../platform/http/query-parameters.ts';
import type { RequestIdEnv } from '../platform/http/request-id.ts';
import { timeZoneSchema } from '../structure/catalogue/time-zones.ts';
import { getResource } from '../structure/resource.ts';
import { parsePathId } from '../structure/resource-routes.ts';
import { VARIABLE } from '../structure/variable.ts';
import { previewRetention } from './preview-retention.ts';
import {
  findRetention,
  MAX_YEARS,
  type RetentionOwner,
  ROLLUPS,
  readRetentionState,
  removeRetention,
  retentionSchema,
  saveRetention,
  zoneOf,
} from './retention.ts';

export const PREVIEW_QUERY = declareQuery({
  keepRawYears: integerParameter(
    'Number of years for which raw points are kept. Default: the number in the saved policy.',
    {
      min: 1,
      max: MAX_YEARS,
    },
  ),
  rollup: choiceParameter(
    'Length of the period that each rollup covers. Default: `Day` when `keepRawYears` is given, otherwise the length in the saved policy.',
    ROLLUPS,
  ),
  timeZoneId: textParameter(
    'Time zone of the rollups. Default when `keepRawYears` is given: for a variable, the zone of its source, or of the site when the source has none; for an account, the zone of the account. Default without `keepRawYears`: the zone of the saved policy.',
    timeZoneSchema,
  ),
});

type Env = CallerEnv & RequestIdEnv;

export interface RetentionRouteParts {
  readonly database: Database;
  readonly audit: WriteAuditEntry<'RetentionSaved' | 'RetentionRemoved'>;
}

/**
 * Routes of retention policies, to be mounted at the root behind bearer authentication. They require the role MANAGER
 * or ADMIN, because a rollup cannot be undone.
 */
export function retentionRoutes(parts: RetentionRouteParts): Hono<Env> {
  const manager = requireRole('MANAGER');
  const routes = new Hono<Env>();
  for (const path of ['/account/retention', '/variables/:id/retention'] as const) {
    routes
      .get(path, manager, async (c) =>
        c.json(await readRetentionState(parts.database, (await findOwner(parts, c)).owner)),
      )
      .put(path, manager, (c) => putRetention(parts, c))
      .delete(path, manager, (c) => deleteRetention(parts, c))
      .get(`${path}/preview`, manager, (c) => getPreview(parts, c));
  }
  return routes;
}

interface Owner {
  readonly owner: RetentionOwner;
  /** Target of the entry in the audit trail. */
  readonly target: { readonly targetId?: string; readonly targetName?: string };
}

/** @throws {DomainError} not_found when the caller cannot see the variable. */
async function findOwner({ database }: RetentionRouteParts, c: Context<Env>): Promise<Owner> {
  const { caller } = c.var;
  const { accountId } = caller;
  if (c.req.param('id') === undefined) return { owner: { accountId, variableId: null }, target: {} };
  const variableId = parsePathId(c, 'id');
  const { name } = await getResource(database, VARIABLE, caller, variableId);
  return { owner: { accountId, variableId }, target: { targetId: String(variableId), targetName: String(name) } };
}

async function putRetention(parts: RetentionRouteParts, c: Context<Env>): Promise<Response> {
  const written = parseInput(retentionSchema, await readJsonBody(c.req.raw));
  const { owner, target } = await findOwner(parts, c);
  const state = await withTransaction(parts.database, async (transaction) => {
    await saveRetention(transaction, owner, written, c.var.caller.userName);
    await parts.audit(transaction, c.var, { action: 'RetentionSaved', ...target, details: { ...written } });
    return readRetentionState(transaction, owner);
  });
  return c.json(state);
}

async function deleteRetention(parts: RetentionRouteParts, c: Context<Env>): Promise<Response> {
  const { owner, target } = await findOwner(parts, c);
  await withTransaction(parts.database, async (transaction) => {
    if (!(await removeRetention(transaction, owner))) return;
    await parts.audit(transaction, c.var, { action: 'RetentionRemoved', ...target });
  });
  return c.body(null, 204);
}

/**
 * Previews the retention policy that the query parameters describe. Without `keepRawYears`, previews the saved policy,
 * which must exist. In that case, `rollup` and `timeZoneId`, if given, replace the values of the saved policy.
 */
async function getPreview(parts: RetentionRouteParts, c: Context<Env>): Promise<Response> {
  const asked = PREVIEW_QUERY.parse(c.req.url);
  const { owner } = await findOwner(parts, c);
  const saved = asked.keepRawYears === undefined ? await findRetention(parts.database, owner) : undefined;
  const keepRawYears = asked.keepRawYears ?? saved?.keepRawYears;
  if (keepRawYears === undefined) {
    const kind = owner.variableId === null ? 'account' : 'variable';
    throw PREVIEW_QUERY.error('keepRawYears', `is required, because this ${kind} has no saved retention policy`);
  }
  const rule = {
    keepRawYears,
    rollup: asked.rollup ?? saved?.rollup ?? 'Day',
    timeZoneId: asked.timeZoneId ?? saved?.timeZoneId ?? (await zoneOf(parts.database, owner)),
  };
  return c.json(await previewRetention(parts.database, owner, rule));
}
