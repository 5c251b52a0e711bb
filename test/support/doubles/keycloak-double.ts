/**
 * Test double of Keycloak with one realm. It serves the token endpoint (client credentials), the keys and the part of
 * the admin REST API that manages users, and gives the answers that Keycloak documents. The double is as strict as
 * Keycloak: it accepts only its own bearer tokens, replaces the whole user on PUT, lowercases user names, and keeps
 * user names and email addresses unique.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export interface DoubleUser {
  readonly id: string;
  readonly username: string;
  readonly email?: string;
  readonly firstName?: string;
  readonly lastName?: string;
  readonly enabled: boolean;
  readonly emailVerified: boolean;
  readonly requiredActions: readonly string[];
  readonly attributes: Readonly<Record<string, readonly string[]>>;
}

export interface KeycloakDouble {
  readonly url: string;
  readonly issuer: string;
  readonly clientSecret: string;
  /** User id → user. */
  readonly users: Map<string, DoubleUser>;
  /** User id → password. */
  readonly passwords: Map<string, string>;
  /** Ids of users whose sessions were ended. */
  readonly loggedOut: string[];
  /** User id, query and body of each call to execute-actions-email. */
  readonly actionMails: { readonly userId: string; readonly query: URLSearchParams; readonly actions: unknown }[];
  /**
   * The calls to `…/users` of the admin API, and to paths below it, that had a valid token. Each entry is
   * `METHOD /path`; the path is relative to `…/users`.
   */
  readonly calls: string[];
  /** Makes the admin API refuse all tokens that the token endpoint has issued so far. */
  expireTokens(): void;
  /** Makes the double respond to every call with this status; undefined restores the normal responses. */
  failWith(status: number | undefined): void;
  /** @returns an access token of the realm for a user. */
  tokenOf(userId: string, scope?: string): Promise<string>;
  close(): Promise<void>;
}

const REALM = 'tidemark';
const ADMIN_CLIENT = 'tidemark-admin';

interface State extends KeycloakDouble {
  tokens: Set<string>;
  failure: number | undefined;
}

export async function startKeycloakDouble(): Promise<KeycloakDouble> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid: 'kc-1', alg: 'RS256', use: 'sig' };
  const server = createServer((request, response) => {
    answer(state, jwk, request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer = `${url}/realms/${REALM}`;
  const state: State = {
    ...{ url, issuer, clientSecret: 'kc-secret', users: new Map(), passwords: new Map() },
    ...{ loggedOut: [], actionMails: [], calls: [], tokens: new Set(), failure: undefined },
    expireTokens: () => state.tokens.clear(),
    failWith: (status) => {
      state.failure = status;
    },
    tokenOf: (userId, scope = 'datahub-api push-data') =>
      new SignJWT({ ...tokenClaims(state.users.get(userId)), scope })
        .setProtectedHeader({ alg: 'RS256', kid: 'kc-1' })
        .setIssuer(issuer)
        .setAudience('tidemark')
        .setSubject(userId)
        .setExpirationTime('5 minutes')
        .sign(privateKey),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return state;
}

function tokenClaims(user: DoubleUser | undefined) {
  const account = Number(user?.attributes.account?.[0]);
  return { preferred_username: user?.username, ...(Number.isInteger(account) && { account }) };
}

async function answer(
  state: State,
  jwk: JWK,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<ServerResponse> {
  const { pathname, searchParams } = new URL(request.url ?? '/', state.url);
  const body = await text(request);
  if (state.failure !== undefined) return send(response, state.failure, { error: 'unknown_error' });
  if (pathname === `/realms/${REALM}/protocol/openid-connect/certs`) return send(response, 200, { keys: [jwk] });
  if (pathname === `/realms/${REALM}/protocol/openid-connect/token`) return giveToken(state, body, response);
  const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
  if (!state.tokens.has(token)) return send(response, 401, { error: 'HTTP 401 Unauthorized' });
  const prefix = `/admin/realms/${REALM}/users`;
  if (!pathname.startsWith(prefix)) return send(response, 404, { error: 'Realm not found.' });
  state.calls.push(`${request.method} ${pathname.slice(prefix.length) || '/'}`);
  const [, id, action] = pathname.slice(prefix.length).split('/');
  const parsed: unknown = body === '' ? undefined : JSON.parse(body);
  if (id === undefined) return answerUsers(state, request.method, searchParams, parsed, response);
  const user = state.users.get(id);
  if (!user) return send(response, 404, { error: 'User not found' });
  return answerUser(state, `${request.method} ${action ?? ''}`, user, searchParams, parsed, response);
}

function giveToken(state: State, body: string, response: ServerResponse): ServerResponse {
  const form = new URLSearchParams(body);
  const isAdmin = form.get('client_id') === ADMIN_CLIENT && form.get('client_secret') === state.clientSecret;
  if (!isAdmin || form.get('grant_type') !== 'client_credentials') {
    return send(response, 401, {
      error: 'unauthorized_client',
      error_description: 'Invalid client or Invalid client credentials',
    });
  }
  const token = randomUUID();
  state.tokens.add(token);
  return send(response, 200, { access_token: token, expires_in: 300, token_type: 'Bearer', scope: '' });
}

function answerUsers(
  state: State,
  method: string | undefined,
  query: URLSearchParams,
  body: unknown,
  response: ServerResponse,
): ServerResponse {
  if (method === 'GET') {
    const name = query.get('username')?.toLowerCase();
    const isExact = query.get('exact') === 'true';
    const found = [...state.users.values()].filter(({ username }) =>
      isExact ? username === name : username.includes(name ?? ''),
    );
    return send(response, 200, found);
  }
  if (method !== 'POST') return send(response, 405, { error: 'HTTP 405 Method Not Allowed' });
  const user = toUser(randomUUID(), body);
  if (isTaken(state, user)) return send(response, 409, { errorMessage: 'User exists with same username' });
  state.users.set(user.id, user);
  response.setHeader('location', `${state.url}/admin/realms/${REALM}/users/${user.id}`);
  return send(response, 201);
}

function answerUser(
  state: State,
  what: string,
  user: DoubleUser,
  query: URLSearchParams,
  body: unknown,
  response: ServerResponse,
): ServerResponse {
  switch (what) {
    case 'GET ':
      return send(response, 200, user);
    case 'PUT ': {
      if (typeof (body as DoubleUser).username !== 'string') {
        return send(response, 400, { errorMessage: 'User name is missing' });
      }
      const changed = toUser(user.id, body);
      if (isTaken(state, changed))
        return send(response, 409, { errorMessage: 'User exists with same username or email' });
      state.users.set(user.id, changed);
      return send(response, 204);
    }
    case 'DELETE ':
      state.users.delete(user.id);
      return send(response, 204);
    case 'PUT reset-password': {
      const { type, value, temporary } = body as { type?: string; value?: string; temporary?: boolean };
      if (type !== 'password' || !value) return send(response, 400, { error: 'No password provided' });
      state.passwords.set(user.id, value);
      const others = user.requiredActions.filter((action) => action !== 'UPDATE_PASSWORD');
      state.users.set(user.id, { ...user, requiredActions: temporary ? [...others, 'UPDATE_PASSWORD'] : others });
      return send(response, 204);
    }
    case 'PUT execute-actions-email':
      if (!user.email) return send(response, 400, { errorMessage: 'User email missing' });
      if (!user.enabled) return send(response, 400, { errorMessage: 'User is disabled' });
      state.actionMails.push({ userId: user.id, query, actions: body });
      return send(response, 204);
    case 'POST logout':
      state.loggedOut.push(user.id);
      return send(response, 204);
    default:
      return send(response, 405, { error: 'HTTP 405 Method Not Allowed' });
  }
}

/**
 * @returns the user that the body of a POST or PUT describes. If the body omits `email`, `firstName` or `lastName`, the
 * user lacks that member, too; other omitted members get defaults.
 */
function toUser(id: string, body: unknown): DoubleUser {
  const given = body as Partial<DoubleUser> & { readonly username: string };
  const texts = { email: given.email, firstName: given.firstName, lastName: given.lastName };
  return {
    id,
    username: given.username.toLowerCase(),
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value)),
    enabled: given.enabled ?? false,
    emailVerified: given.emailVerified ?? false,
    requiredActions: given.requiredActions ?? [],
    attributes: given.attributes ?? {},
  };
}

function isTaken(state: State, { id, username, email }: DoubleUser): boolean {
  return [...state.users.values()].some(
    (other) => other.id !== id && (other.username === username || (email && other.email === email)),
  );
}

function send(response: ServerResponse, status: number, body?: unknown): ServerResponse {
  response.writeHead(status, { 'content-type': 'application/json' });
  return response.end(body === undefined ? undefined : JSON.stringify(body));
}
