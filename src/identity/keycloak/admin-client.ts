/**
 * Client of Keycloak's admin REST interface. Since Keycloak 24, a PUT replaces the whole user, so first read the user,
 * then write the whole user back.
 */
import { type Clock, systemClock } from '../../platform/clock.ts';
import { DomainError } from '../../platform/errors.ts';

export interface KeycloakUser {
  readonly id?: string;
  readonly username: string;
  readonly email?: string;
  readonly firstName?: string;
  readonly lastName?: string;
  readonly enabled?: boolean;
  readonly emailVerified?: boolean;
  readonly requiredActions?: readonly string[];
  readonly attributes?: Readonly<Record<string, readonly string[]>>;
}

export interface KeycloakAdmin {
  /** @returns the id; undefined when the user name or email address is taken. */
  createUser(user: KeycloakUser): Promise<string | undefined>;
  /**
   * Finds the user whose whole name is `userName`. The case of `userName` does not matter, because Keycloak stores and
   * compares names in lower case.
   */
  findUserByName(userName: string): Promise<KeycloakUser | undefined>;
  findUser(id: string): Promise<KeycloakUser | undefined>;
  updateUser(id: string, user: KeycloakUser): Promise<void>;
  /** Deletes a user; also succeeds when the user does not exist. */
  deleteUser(id: string): Promise<void>;
  setPassword(id: string, password: string, isTemporary: boolean): Promise<void>;
  /** Mails the user a link to a page that makes the user perform the given actions. */
  sendActions(id: string, actions: readonly string[], link: ActionsLink): Promise<void>;
  /** Ends all sessions of a user. */
  logOut(id: string): Promise<void>;
}

export interface ActionsLink {
  readonly lifespanSec: number;
  readonly clientId: string;
  readonly redirectUri: string | undefined;
}

export interface KeycloakAdminOptions {
  /** URL of Keycloak, without `/realms`. */
  readonly url: string;
  readonly realm: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly fetch?: typeof fetch;
  readonly clock?: Clock;
}

interface CallOptions {
  readonly body?: unknown;
  /** Statuses that count as success besides 2xx. */
  readonly allowed?: readonly number[];
}

const TIMEOUT_MS = 10_000;
/** A token that expires within this many milliseconds is renewed before a call. */
const EARLY_MS = 10_000;

/**
 * Creates a client. Its methods throw {DomainError} dependency_unavailable when Keycloak fails or does not answer
 * within 10 seconds; `updateUser` throws conflict when the user name or email address is taken.
 */
export function createKeycloakAdmin(options: KeycloakAdminOptions): KeycloakAdmin {
  const base = `${options.url.replace(/\/+$/, '')}/admin/realms/${encodeURIComponent(options.realm)}`;
  const call = createCall(options);
  const user = (id: string) => `${base}/users/${encodeURIComponent(id)}`;
  return {
    createUser: async (body) => {
      const response = await call('POST', `${base}/users`, { body, allowed: [409] });
      if (response.status === 409) return undefined;
      return new URL(response.headers.get('location') ?? '', base).pathname.split('/').at(-1);
    },
    findUserByName: async (userName) => {
      const query = new URLSearchParams({ username: userName, exact: 'true' });
      const found = (await (await call('GET', `${base}/users?${query}`)).json()) as readonly KeycloakUser[];
      return found[0];
    },
    findUser: async (id) => {
      const response = await call('GET', user(id), { allowed: [404] });
      return response.status === 404 ? undefined : ((await response.json()) as KeycloakUser);
    },
    updateUser: async (id, body) => {
      const response = await call('PUT', user(id), { body, allowed: [409] });
      if (response.status === 409)
        throw new DomainError(
          'conflict',
          `userName and email must be unique at the identity provider; the user name ${body.username} or the email address is taken`,
        );
    },
    deleteUser: async (id) => void (await call('DELETE', user(id), { allowed: [404] })),
    setPassword: async (id, value, temporary) => {
      await call('PUT', `${user(id)}/reset-password`, { body: { type: 'password', value, temporary } });
    },
    sendActions: async (id, actions, { lifespanSec, clientId, redirectUri }) => {
      const query = new URLSearchParams({ lifespan: String(lifespanSec), client_id: clientId });
      if (redirectUri !== undefined) query.set('redirect_uri', redirectUri);
      await call('PUT', `${user(id)}/execute-actions-email?${query}`, { body: actions });
    },
    logOut: async (id) => void (await call('POST', `${user(id)}/logout`, { allowed: [404] })),
  };
}

/**
 * Creates a function that calls Keycloak with the service account's token. The function renews the token before it
 * expires. After a 401, it renews the token and repeats the call once.
 */
function createCall(options: KeycloakAdminOptions) {
  const { clock = systemClock } = options;
  let token: { readonly value: string; readonly untilMs: number } | undefined;
  const getToken = async (): Promise<string> => {
    if (!token || token.untilMs <= clock.nowMillis()) token = await requestToken(options, clock);
    return token.value;
  };
  return async (method: string, url: string, { body, allowed = [] }: CallOptions = {}): Promise<Response> => {
    const send = async () =>
      request(options, url, {
        method,
        headers: {
          authorization: `Bearer ${await getToken()}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    let response = await send();
    if (response.status === 401) {
      token = undefined;
      response = await send();
    }
    if (response.ok || allowed.includes(response.status)) return response;
    throw unavailable(`${method} ${new URL(url).pathname} answered ${response.status}: ${await response.text()}`);
  };
}

async function requestToken(options: KeycloakAdminOptions, clock: Clock) {
  const { url, realm, clientId, clientSecret } = options;
  const address = `${url.replace(/\/+$/, '')}/realms/${encodeURIComponent(realm)}/protocol/openid-connect/token`;
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  const response = await request(options, address, { method: 'POST', body: new URLSearchParams(form) });
  if (!response.ok)
    throw unavailable(
      `Keycloak issued no token for the client ${clientId}; it answered with status ${response.status}`,
    );
  const { access_token: value, expires_in: lifeSec } = (await response.json()) as Readonly<Record<string, unknown>>;
  if (typeof value !== 'string') throw unavailable('the token response from Keycloak contains no access token');
  return { value, untilMs: clock.nowMillis() + Number(lifeSec ?? 0) * 1000 - EARLY_MS };
}

async function request(options: KeycloakAdminOptions, url: string, init: RequestInit): Promise<Response> {
  const send = options.fetch ?? fetch;
  try {
    return await send(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    const call = `${init.method ?? 'GET'} ${new URL(url).pathname}`;
    throw unavailable(
      `${call}: Keycloak cannot be reached, answered with a redirect, or did not answer within ${TIMEOUT_MS / 1000} s`,
      error,
    );
  }
}

/** @returns the error for the caller. Its cause holds `details`; the cause is logged but not sent to the caller. */
function unavailable(details: string, cause?: unknown): DomainError {
  const advice = 'try again later, or quote the request id to the operator, whose log has the reason';
  const message = `the identity provider could not complete the request; ${advice}`;
  const error = new DomainError('dependency_unavailable', message);
  error.cause = new Error(details, { cause });
  return error;
}
