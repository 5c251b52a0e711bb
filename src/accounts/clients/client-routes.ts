/**
 * Routes of OAuth clients and signing keys (§5). Only ADMIN users may call these routes, because clients and keys serve
 * all accounts.
 */
import { type Context, Hono } from 'hono';
import type { z } from 'zod';
import { requireRole } from '../../identity/authentication/authenticate.ts';
import { CONSOLE_CLIENT_ID } from '../../identity/clients/find-client.ts';
import { addSigningKey, describeSigningKeys } from '../../identity/keys/signing-keys.ts';
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { readJsonBody } from '../../platform/http/http-body.ts';
import { invalidInput, parseInput } from '../../platform/http/lenient.ts';
import { setTotalCount } from '../../platform/http/listing-response.ts';
import { PAGING, pageOf, toPaging } from '../../platform/http/paging.ts';
import { declareQuery } from '../../platform/http/query.ts';
import { type NewAuditEntry, writeAudit } from '../audit/audit.ts';
import { type AccountEnv, auditContextOf } from '../audit/audit-context.ts';
import { lockUsers } from '../users/target-user.ts';
import { CLIENT_SCOPES, type ClientRegistration, defaultGrants, findClientProblem } from './client-rules.ts';
import { CHANGED_CLIENT, NEW_CLIENT, REPLACED_SECRET } from './client-schema.ts';
import {
  deleteClient,
  endClientSessions,
  insertClient,
  listClients,
  lockClient,
  makeClientSecret,
  replaceClientSecret,
  type StoredClient,
  updateClient,
} from './client-store.ts';

type Env = AccountEnv;

export const CLIENT_LIST = declareQuery(PAGING, { isListing: true });

/** A client as the API shows it. */
export interface ShownClient extends StoredClient {
  /** True when the client is part of the service; such a client can neither be changed nor deleted. */
  readonly isBuiltIn: boolean;
}

/** Routes of OAuth clients and signing keys. Mount at the root, behind bearer authentication. */
export function clientRoutes({ database }: { readonly database: Database }): Hono<Env> {
  const admin = requireRole('ADMIN');
  return new Hono<Env>()
    .get('/admin/clients', admin, async (c) => {
      const paging = CLIENT_LIST.parse(c.req.url);
      const clients = await listClients(database);
      setTotalCount(c, clients.length);
      return c.json(pageOf(clients, toPaging(paging)).map(show));
    })
    .post('/admin/clients', admin, (c) => postClient(c, database))
    .put('/admin/clients/:clientId', admin, (c) => putClient(c, database))
    .post('/admin/clients/:clientId/secret', admin, (c) => postSecret(c, database))
    .delete('/admin/clients/:clientId', admin, (c) => removeClient(c, database))
    .get('/admin/signingKeys', admin, async (c) => c.json(await describeSigningKeys(database)))
    .post('/admin/signingKeys', admin, (c) => postSigningKey(c, database));
}

async function postClient(c: Context<Env>, database: Database): Promise<Response> {
  const written = parseInput(NEW_CLIENT, await readJsonBody(c.req.raw));
  const { clientId, name } = written;
  const isPublic = written.isPublic ?? false;
  const redirectUris = written.redirectUris ?? [];
  const registration = {
    clientId,
    scopes: written.scopes ?? CLIENT_SCOPES,
    grantTypes: written.grantTypes ?? defaultGrants(isPublic, redirectUris),
    redirectUris,
    logoutUris: written.logoutUris ?? [],
  };
  assertValid(registration);
  const secret = isPublic ? undefined : makeClientSecret();
  const client = await change(c, database, async (transaction) => {
    await insertClient(transaction, { ...registration, secret, name: name ?? undefined });
    const { clientId: _id, ...details } = { ...registration, isPublic };
    await audit(transaction, c, { action: 'ClientCreated', targetId: clientId, targetName: name ?? clientId, details });
    return lockClient(transaction, clientId);
  });
  c.header('Cache-Control', 'no-store');
  return c.json({ ...show(client), ...(secret !== undefined && { secret }) });
}

async function putClient(c: Context<Env>, database: Database): Promise<Response> {
  const written = parseInput(CHANGED_CLIENT, await readJsonBody(c.req.raw));
  const client = await change(c, database, async (transaction) => {
    const current = await lockOwnClient(transaction, clientIdOf(c), 'change');
    const next = applyChange(current, written);
    assertValid(next);
    await updateClient(transaction, next);
    if (current.isEnabled && !next.isEnabled) await endClientSessions(transaction, next.clientId);
    const details = changedMembers(current, next);
    const { clientId: targetId, name } = next;
    await audit(transaction, c, { action: 'ClientUpdated', targetId, targetName: name ?? targetId, details });
    return next;
  });
  return c.json(show(client));
}

async function postSecret(c: Context<Env>, database: Database): Promise<Response> {
  const { overlapHours } = parseInput(REPLACED_SECRET, await readJsonBody(c.req.raw));
  const secret = makeClientSecret();
  const client = await change(c, database, async (transaction) => {
    const { clientId: targetId, name, isPublic } = await lockClient(transaction, clientIdOf(c));
    if (isPublic) throw new DomainError('conflict', `client ${targetId} is public and has no secret`);
    await replaceClientSecret(transaction, targetId, secret, overlapHours ?? 0);
    const details = { overlapHours: overlapHours ?? 0 };
    await audit(transaction, c, { action: 'ClientSecretReplaced', targetId, targetName: name ?? targetId, details });
    return lockClient(transaction, targetId);
  });
  c.header('Cache-Control', 'no-store');
  return c.json({ ...show(client), secret });
}

async function removeClient(c: Context<Env>, database: Database): Promise<Response> {
  await change(c, database, async (transaction) => {
    const { clientId: targetId, name } = await lockOwnClient(transaction, clientIdOf(c), 'delete');
    await deleteClient(transaction, targetId);
    await endClientSessions(transaction, targetId);
    await audit(transaction, c, { action: 'ClientDeleted', targetId, targetName: name ?? targetId });
  });
  return c.body(null, 200);
}

/**
 * Adds a signing key. Refuses while an earlier key has not begun to sign: every verifier reads the whole key set, so
 * the key set must stay short.
 */
async function postSigningKey(c: Context<Env>, database: Database): Promise<Response> {
  const keys = await change(c, database, async (transaction) => {
    const targetId = await addSigningKey(transaction);
    const described = await describeSigningKeys(transaction);
    const [next, earlier] = described.filter(({ state }) => state === 'Next');
    if (earlier) {
      const state = `key ${earlier.kid} is already published and will start to sign tokens at ${earlier.signsFrom}`;
      throw new DomainError('conflict', `${state}; once this key signs tokens, you can add another key`);
    }
    await audit(transaction, c, { action: 'SigningKeyAdded', targetId });
    return next ?? described.find(({ kid }) => kid === targetId);
  });
  return c.json(keys);
}

/** Checks that the caller is still an ADMIN, then runs the change (R-B5). */
function change<Result>(
  c: Context<Env>,
  database: Database,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  return withTransaction(database, async (transaction) => {
    await lockUsers(transaction, c.var.caller, []);
    return work(transaction);
  });
}

/**
 * Writes an audit entry without an account, because clients and keys belong to no account. Only ADMIN users may read
 * the entry.
 */
function audit(transaction: Transaction, c: Context<Env>, entry: NewAuditEntry): Promise<void> {
  return writeAudit(transaction, auditContextOf(c), { ...entry, accountIds: [] });
}

const clientIdOf = (c: Context<Env>) => c.req.param('clientId') ?? '';

/**
 * Locks the row of a client, for a change or deletion of the client.
 * @throws {DomainError} not_found; conflict for the built-in client of the console, without which no user could sign in
 * to the console.
 */
async function lockOwnClient(transaction: Transaction, clientId: string, verb: string): Promise<StoredClient> {
  const client = await lockClient(transaction, clientId);
  if (clientId !== CONSOLE_CLIENT_ID) return client;
  throw new DomainError('conflict', `client ${clientId} is built in; you cannot ${verb} it`);
}

function applyChange(current: StoredClient, written: z.output<typeof CHANGED_CLIENT>): StoredClient {
  return {
    ...current,
    name: written.name === undefined ? current.name : written.name,
    isEnabled: written.isEnabled ?? current.isEnabled,
    scopes: written.scopes ?? current.scopes,
    grantTypes: written.grantTypes ?? current.grantTypes,
    redirectUris: written.redirectUris ?? current.redirectUris,
    logoutUris: written.logoutUris ?? current.logoutUris,
  };
}

const CHANGEABLE = ['name', 'isEnabled', 'scopes', 'grantTypes', 'redirectUris', 'logoutUris'] as const;

/** @returns the members whose values differ, with their values in `next`. */
function changedMembers(current: StoredClient, next: StoredClient): Readonly<Record<string, unknown>> {
  const changed = CHANGEABLE.filter((member) => JSON.stringify(current[member]) !== JSON.stringify(next[member]));
  return Object.fromEntries(changed.map((member) => [member, next[member]]));
}

/** @throws {DomainError} invalid_input naming the first problem of the registration */
function assertValid(registration: ClientRegistration): void {
  const problem = findClientProblem(registration);
  if (problem) throw invalidInput([{ path: `$.${problem.member}`, message: problem.rule }]);
}

function show(client: StoredClient): ShownClient {
  return { ...client, isBuiltIn: client.clientId === CONSOLE_CLIENT_ID };
}
