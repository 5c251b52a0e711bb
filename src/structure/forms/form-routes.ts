/** Routes of forms. All users read definitions and the values that resources have; only managers write definitions. */
import { type Context, Hono } from 'hono';
import type { WriteAuditEntry } from '../../identity/audit-writer.ts';
import { type CallerEnv, requireRole } from '../../identity/authentication/authenticate.ts';
import { type Database, withTransaction } from '../../platform/database/database.ts';
import { readJsonBody } from '../../platform/http/http-body.ts';
import { invalidInput, parseInput } from '../../platform/http/lenient.ts';
import { isTotalWanted, setTotalCount } from '../../platform/http/listing-response.ts';
import { PAGING, pageOf, toPaging } from '../../platform/http/paging.ts';
import { declareQuery } from '../../platform/http/query.ts';
import { enumerationParameter, optionalFlagParameter, textParameter } from '../../platform/http/query-parameters.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import { answerListing, countByReading, type ListingServices } from '../../platform/streaming/stream-listing.ts';
import { countResources } from '../resource.ts';
import { parsePathId } from '../resource-routes.ts';
import { CHANGED_FORM, ENTITY_TYPE, NEW_FORM } from './form-definition.ts';
import { deleteForm, getForm, insertForm, listForms, updateForm } from './form-store.ts';
import { listFilled, selectFilled } from './form-values.ts';

export const FORM_LIST = declareQuery(
  {
    name: textParameter('Returns only the forms with this name. Letter case is ignored.'),
    entityType: enumerationParameter('Returns only the forms for this kind of resource.', ENTITY_TYPE),
    ...PAGING,
  },
  { isListing: true },
);
export const VALUE_LIST = declareQuery(
  {
    hasProblems: optionalFlagParameter(
      '`true`: only resources with values that violate the form; `false`: only resources without such values. Cannot be combined with `itemsPerPage`.',
    ),
    ...PAGING,
  },
  { isListing: true },
);

type Env = CallerEnv & RequestIdEnv;

export interface FormServices extends ListingServices {
  readonly database: Database;
  readonly audit: WriteAuditEntry<'FormCreated' | 'FormUpdated' | 'FormDeleted'>;
}

/** Routes of `/form`. Mount behind bearer authentication. */
export function formRoutes(services: FormServices): Hono<Env> {
  const { database } = services;
  const manager = requireRole('MANAGER');
  return new Hono<Env>()
    .get('/form', async (c) => {
      const { name, entityType, ...paging } = FORM_LIST.parse(c.req.url);
      const forms = await listForms(database, c.var.caller.accountId, { name, entityType });
      setTotalCount(c, forms.length);
      return c.json(pageOf(forms, toPaging(paging)));
    })
    .get('/form/:id', async (c) => c.json(await getForm(database, c.var.caller.accountId, parsePathId(c, 'id'))))
    .get('/form/:id/values', (c) => getValues(c, services))
    .post('/form', manager, (c) => postForm(c, services))
    .put('/form/:id', manager, (c) => putForm(c, services))
    .delete('/form/:id', manager, async (c) => {
      const { caller } = c.var;
      const id = parsePathId(c, 'id');
      await withTransaction(database, async (transaction) => {
        const { name, entityType } = await deleteForm(transaction, caller.accountId, id);
        const entry = { action: 'FormDeleted', targetId: String(id), targetName: name } as const;
        await services.audit(transaction, c.var, { ...entry, details: { entityType } });
      });
      return c.body(null, 204);
    });
}

async function postForm(c: Context<Env>, { database, audit }: FormServices): Promise<Response> {
  const written = parseInput(NEW_FORM, await readJsonBody(c.req.raw));
  const form = await withTransaction(database, async (transaction) => {
    const inserted = await insertForm(transaction, c.var.caller.accountId, written);
    const { id, name, entityType } = inserted;
    const entry = { action: 'FormCreated', targetId: String(id), targetName: name } as const;
    await audit(transaction, c.var, { ...entry, details: { entityType } });
    return inserted;
  });
  return c.json(form);
}

async function putForm(c: Context<Env>, { database, audit }: FormServices): Promise<Response> {
  const id = parsePathId(c, 'id');
  const written = parseInput(CHANGED_FORM, await readJsonBody(c.req.raw));
  const { accountId } = c.var.caller;
  await withTransaction(database, async (transaction) => {
    const stored = await getForm(transaction, accountId, id, true);
    const { name = stored.name, entityType = stored.entityType, groups = stored.groups } = withoutNulls(written);
    await updateForm(transaction, accountId, stored, { name, entityType, groups });
    const entry = { action: 'FormUpdated', targetId: String(id), targetName: name } as const;
    await audit(transaction, c.var, { ...entry, details: { entityType } });
  });
  return c.body(null, 204);
}

type Given<Members> = { readonly [Name in keyof Members]?: NonNullable<Members[Name]> };

function withoutNulls<Members extends object>(members: Members): Given<Members> {
  const given = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given) as Given<Members>;
}

async function getValues(c: Context<Env>, services: FormServices): Promise<Response> {
  const { hasProblems, ...page } = VALUE_LIST.parse(c.req.url);
  const { caller } = c.var;
  if (hasProblems !== undefined && page.itemsPerPage !== undefined) {
    throw invalidInput([{ path: 'query.itemsPerPage', message: 'cannot be combined with hasProblems' }]);
  }
  const form = await getForm(services.database, caller.accountId, parsePathId(c, 'id'));
  const selection = selectFilled(caller, form);
  const listing = listFilled(form, selection, hasProblems);
  if (isTotalWanted(c)) {
    const isFiltered = hasProblems !== undefined;
    setTotalCount(
      c,
      await (isFiltered
        ? countByReading(services, caller.accountId, listing, c.req.raw.signal)
        : countResources(services.database, selection)),
    );
  }
  return answerListing(c, services, caller.accountId, listing, toPaging(page));
}
