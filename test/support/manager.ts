/** A manager who may push, and what a test does as one through the REST interface. Needs no test runner. */
import { addClaim } from '../../src/accounts/members/add-claim.ts';
import { createAccount } from '../../src/accounts/operator/create-account.ts';
import { registerClient } from '../../src/accounts/operator/register-client.ts';
import { createUser } from '../../src/accounts/users/create-user.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { createTestClient, requestToken, type SendOptions, type TestClient } from './clients/test-client.ts';
import type { CheckAnswer } from './described-answers.ts';

const CLIENT = { clientId: 'test-client', secret: 'test-secret', scopes: ['datahub-api', 'push-data'] };
const PASSWORD = 'correct horse battery staple';
const MANAGER = 'manager@example.test';

/** Makes an account, its manager and a client. @returns the account's id. */
export async function seedManager(database: Database): Promise<number> {
  const accountId = await createAccount(database, { name: 'Test' });
  const user = { userName: MANAGER, password: PASSWORD, role: 'MANAGER', accountIds: [accountId] } as const;
  const userId = await createUser(database, user);
  await addClaim(database, { accountId, userId, claimType: 'datapusher.standard' });
  await registerClient(database, CLIENT);
  return accountId;
}

export interface ApiClient extends TestClient {
  /** Sends JSON and expects success. @throws Error with status and body otherwise. */
  call<Body>(method: string, path: string, body?: unknown, options?: SendOptions): Promise<Body>;
}

/** Signs in by the password grant, as shipped clients do. @param check sees every answer. */
export async function signIn(http: string, check?: CheckAnswer): Promise<ApiClient> {
  const token = await requestToken(http, {
    grant_type: 'password',
    client_id: CLIENT.clientId,
    client_secret: CLIENT.secret,
    scope: CLIENT.scopes.join(' '),
    username: MANAGER,
    password: PASSWORD,
  });
  const client = createTestClient(http, token, check);
  return {
    ...client,
    call: async <Body>(method: string, path: string, body?: unknown, options: SendOptions = {}) => {
      const answer = await client.send<Body>(method, path, body, options);
      if (answer.status < 300) return answer.body;
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
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
