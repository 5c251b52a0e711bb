/** Starts an issuer with its own database. The database has one client, two accounts and three users, one per role. */
import { type AddressInfo, createServer } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import { Hono } from 'hono';
import { type Config, readConfig } from '../../../src/config.ts';
import {
  authenticate,
  type CallerEnv,
  requirePermission,
  requireRole,
} from '../../../src/identity/authentication/authenticate.ts';
import { trustedIssuers } from '../../../src/identity/authentication/trusted-issuers.ts';
import { createTokenVerifier, type VerifyToken } from '../../../src/identity/authentication/verify-token.ts';
import { createCallerCache } from '../../../src/identity/caller/find-caller.ts';
import { createIssuer, type Issuer, issuerRoutes } from '../../../src/identity/issuer/issuer.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import { type Database, openDatabase } from '../../../src/platform/database/database.ts';
import { DomainError, ERROR_MAPPINGS } from '../../../src/platform/errors.ts';
import { createLog } from '../../../src/platform/log.ts';
import { addAccount, addClient, addUser, PASSWORD } from '../../support/fixtures/accounts.ts';
import { createTestDatabase } from '../../support/services/stack.ts';

const SILENT = createLog('silent', 'test');
/** A client whose secret has characters that form-encoding changes. */
export const CLIENT = { clientId: 'demo', secret: 's3cret/with+signs' };
export { PASSWORD };

/** A clock that the test advances. */
export interface TestClock extends Clock {
  advanceSec(seconds: number): void;
}

export interface IdentityFixture {
  readonly config: Config;
  readonly database: Database;
  readonly issuer: Issuer;
  readonly verifier: VerifyToken;
  readonly clock: TestClock;
  readonly origin: string;
  readonly accountId: number;
  readonly otherAccountId: number;
  readonly users: Readonly<Record<'ada' | 'max' | 'uma', string>>;
  requestToken(form: Readonly<Record<string, string>>, options?: TokenRequestOptions): Promise<TokenAnswer>;
  getJson(path: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface TokenRequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly realm?: string;
  /** Text after the path of the token endpoint. */
  readonly suffix?: string;
}

export interface TokenAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly access_token?: string;
    readonly refresh_token?: string;
    readonly scope?: string;
    readonly error?: string;
  };
}

/** @returns the Authorization header of HTTP Basic for `name:secret`. */
export function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

/**
 * Starts an issuer with the users ada (ADMIN without membership), max (MANAGER of both accounts, may push) and uma
 * (USER of the first account).
 */
export async function startIdentity(): Promise<IdentityFixture> {
  const test = await createTestDatabase();
  const database = openDatabase({ url: test.url, poolSize: 5, applicationName: 'test', log: SILENT });
  const port = await findFreePort();
  const origin = `http://127.0.0.1:${port}`;
  const config = readConfig({ DATABASE_URL: test.url, REDIS_URL: 'redis://127.0.0.1:1', AUTH_URL: origin });
  const clock = createTestClock();
  const issuer = await createIssuer({ config, database, log: SILENT, clock });
  const verifier = createTokenVerifier({ issuers: trustedIssuers(config, database), clock });
  const callers = createCallerCache({ database, cacheSec: config.ACCESS_CACHE_SEC, clock });
  const server = await listen(createApp(issuer, verifier, callers), port);
  const seeded = await seed(database);
  return {
    ...{ config, database, issuer, verifier, clock, origin },
    ...seeded,
    requestToken: (form, options) => requestToken(origin, form, options),
    getJson: async (path) => (await fetch(`${origin}${path}`)).json(),
    close: async () => {
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await database.end();
      await test.drop();
    },
  };
}

async function requestToken(
  origin: string,
  form: Readonly<Record<string, string>>,
  { headers = {}, realm = 'tidemark', suffix = '' }: TokenRequestOptions = {},
): Promise<TokenAnswer> {
  const response = await fetch(`${origin}/realms/${realm}/protocol/openid-connect/token${suffix}`, {
    method: 'POST',
    headers: { ...headers },
    body: new URLSearchParams(form),
    redirect: 'error',
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as TokenAnswer['body'] };
}

function createApp(
  issuer: Issuer,
  verifier: VerifyToken,
  callers: ReturnType<typeof createCallerCache>,
): Hono<CallerEnv> {
  const app = new Hono<CallerEnv>();
  app.use(async (c, next) => {
    c.header('Api-Version', '1.7');
    await next();
    c.header('X-Request-Id', 'r1');
  });
  app.route('/', issuerRoutes(issuer));
  app.use('/api/*', authenticate({ verifier, callers, scope: 'push-data' }));
  app.use('/account/*', authenticate({ verifier, callers, scope: 'datahub-api' }));
  app.get('/account/me', (c) => {
    const { permissions, scopes, ...caller } = c.var.caller;
    return c.json({ ...caller, permissions: [...permissions], scopes: [...scopes] });
  });
  app.get('/account/managers', requireRole('MANAGER'), (c) => c.text('ok'));
  app.post('/api/data', requirePermission('datapusher.standard'), (c) => c.text('ok'));
  app.onError((error, c) => {
    const code = error instanceof DomainError ? error.code : 'internal_error';
    return c.json({ code, message: error.message }, ERROR_MAPPINGS[code].http);
  });
  return app;
}

async function seed(database: Database) {
  const accountId = await addAccount(database, 'North');
  const otherAccountId = await addAccount(database, 'South');
  const both = [accountId, otherAccountId];
  const users = {
    ada: await addUser(database, 'ada', { role: 'ADMIN', accountIds: [] }),
    max: await addUser(database, 'max', { role: 'MANAGER', accountIds: both, mayPush: true }),
    uma: await addUser(database, 'uma', { accountIds: [accountId] }),
  };
  await addClient(database, CLIENT.secret);
  return { accountId, otherAccountId, users };
}

function createTestClock(): TestClock {
  let now = Date.now();
  return {
    nowMillis: () => now,
    advanceSec: (seconds) => {
      now += seconds * 1000;
    },
  };
}

function listen(app: Hono<CallerEnv>, port: number): Promise<ServerType> {
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => resolve(server));
  });
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
