/** Users of several accounts and roles around the two accounts of a TestApi. */
import { createUser } from '../../src/accounts/users/create-user.ts';
import { createTestClient, requestToken, type TestClient } from './clients/test-client.ts';
import { eventually } from './eventually.ts';
import type { TestApi } from './start-api.ts';

const PASSWORD = 'a password of people';

export interface NewPerson {
  readonly role?: 'ADMIN' | 'MANAGER' | 'USER';
  /** Default: the account of the test. */
  readonly accountIds?: readonly number[];
  readonly email?: string;
  readonly firstName?: string;
  readonly lastName?: string;
}

/** @returns the id of a new user. */
export function addPerson(api: TestApi, userName: string, person: NewPerson = {}): Promise<string> {
  const { role = 'USER', accountIds = [api.accountId], ...names } = person;
  return createUser(api.database, { userName, password: PASSWORD, role, accountIds, ...names });
}

/** Signs in somebody `addPerson` made. @param account default: the active one. */
export async function signInPerson(
  api: TestApi,
  userName: string,
  account?: number,
  scope = 'datahub-api push-data',
): Promise<TestClient> {
  const token = await requestToken(api.origin, {
    grant_type: 'password',
    client_id: 'demo',
    client_secret: 's3cret',
    username: userName,
    password: PASSWORD,
    scope,
    ...(account !== undefined && { account: String(account) }),
  });
  return createTestClient(api.origin, token);
}

/** The id behind a user name. */
export async function userIdOf(api: TestApi, userName: string): Promise<string> {
  return eventually(`user ${userName}`, async () => {
    const { rows } = await api.database.query<{ id: string }>('select id from app_user where user_name = $1', [
      userName,
    ]);
    return rows[0]?.id;
  });
}

/** A request whose DELETE has a body, as some operations want. */
export function deleteWith(client: TestClient, path: string, body: unknown) {
  return client.send('DELETE', path, body);
}
