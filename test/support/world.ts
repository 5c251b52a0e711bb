/** A small world to test in: a database of its own with an account, users and a client, and an HTTP client for it. */
import { addClaim } from '../../src/accounts/add-claim.ts';
import { createAccount } from '../../src/accounts/create-account.ts';
import { createUser } from '../../src/accounts/create-user.ts';
import { registerClient } from '../../src/accounts/register-client.ts';
import { type Database, openDatabase } from '../../src/platform/database.ts';
import { createLog } from '../../src/platform/log.ts';
import type { RoleEnvironment } from './role-process.ts';
import { createTestDatabase, createTestQueuePrefix, testRedisUrl } from './stack.ts';

export const CLIENT = { clientId: 'test-client', secret: 'test-secret', scopes: ['datahub-api', 'push-data'] };
export const PASSWORD = 'correct horse battery staple';
export const MANAGER = 'manager@example.test';

export interface World {
  readonly database: Database;
  readonly accountId: number;
  /** What the product's processes need to work in this world. */
  readonly environment: RoleEnvironment;
  close(): Promise<void>;
}

/** An account with a manager who may push. */
export async function createWorld(): Promise<World> {
  const { url, drop } = await createTestDatabase();
  const log = createLog('error', 'test');
  const database = openDatabase({ url, poolSize: 4, applicationName: 'test', log });
  const accountId = await createAccount(database, { name: 'Test' });
  const userId = await createUser(database, {
    userName: MANAGER,
    password: PASSWORD,
    role: 'MANAGER',
    accountIds: [accountId],
  });
  await addClaim(database, { accountId, userId, claimType: 'datapusher.standard' });
  await registerClient(database, CLIENT);
  return {
    database,
    accountId,
    environment: {
      DATABASE_URL: url,
      REDIS_URL: testRedisUrl(),
      QUEUE_PREFIX: createTestQueuePrefix(),
      SWEEP_INTERVAL_MS: '300',
    },
    close: async () => {
      await database.end();
      await drop();
    },
  };
}

export interface ApiClient {
  /** Sends JSON and expects success. @throws Error with status and body otherwise. */
  call<Body>(method: string, path: string, body?: unknown): Promise<Body>;
  /** The bare answer. */
  request(method: string, path: string, body?: unknown): Promise<Response>;
  readonly token: string;
}

/** Signs in by the password grant, as shipped clients do. */
export async function signIn(http: string, userName = MANAGER): Promise<ApiClient> {
  const form = new URLSearchParams({
    grant_type: 'password',
    client_id: CLIENT.clientId,
    client_secret: CLIENT.secret,
    scope: CLIENT.scopes.join(' '),
    username: userName,
    password: PASSWORD,
  });
  const answer = await fetch(`${http}/realms/tidemark/protocol/openid-connect/token`, { method: 'POST', body: form });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const request = (method: string, path: string, body?: unknown) =>
    fetch(http + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return {
    token,
    request,
    call: async <Body>(method: string, path: string, body?: unknown) => {
      const response = await request(method, path, body);
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return (text === '' ? undefined : JSON.parse(text)) as Body;
    },
  };
}

export interface NewVariable {
  readonly name?: string;
  readonly isVersioned?: boolean;
  readonly calculated?: unknown;
}

/** A site with a source to hang variables on. */
export async function createSource(api: ApiClient): Promise<{ readonly siteId: number; readonly sourceId: number }> {
  const siteId = await api.call<number>('POST', '/sites', { name: 'Site', timeZoneId: 'Europe/Brussels' });
  const { id: sourceId } = await api.call<{ id: number }>('POST', '/sources', { siteId, name: 'Source' });
  return { siteId, sourceId };
}

/** @returns the id of the new variable. */
export async function createVariable(api: ApiClient, sourceId: number, variable: NewVariable = {}): Promise<number> {
  const { id } = await api.call<{ id: number }>('POST', `/variables/source/${sourceId}`, variable);
  return id;
}

export interface ScriptInput {
  readonly alias: string;
  readonly variableId: number;
  readonly [member: string]: unknown;
}

/** The declaration of a calculated variable with one formula. */
export function calculated(formula: string, variables: readonly ScriptInput[], constants: readonly unknown[] = []) {
  return { friendlyName: 'test', calculatedVariableFormulas: [{ formula, variables, constants }] };
}
