/** The HTTP and gRPC roles in this process, on a database of the test's own, with an account and users to call as. */
import { addClaim } from '../../../src/accounts/members/claims.ts';
import { createAccount } from '../../../src/accounts/operator/create-account.ts';
import { registerClient } from '../../../src/accounts/operator/register-client.ts';
import { createUser } from '../../../src/accounts/users/create-user.ts';
import { readConfig } from '../../../src/config.ts';
import { startGrpcServer } from '../../../src/grpc/start-grpc-server.ts';
import { buildDocument } from '../../../src/http/openapi/build-document.ts';
import type { Role as UserRole } from '../../../src/identity/caller/caller.ts';
import { ingestAccount } from '../../../src/ingest/ingest-account.ts';
import { type Database, openDatabase } from '../../../src/platform/database/database.ts';
import { createLog } from '../../../src/platform/log.ts';
import { describeApi } from '../../../src/roles/api-description.ts';
import { startApi } from '../../../src/roles/api-role.ts';
import { listenHttp } from '../../../src/roles/http-listener.ts';
import { openParts, type Parts } from '../../../src/roles/parts.ts';
import { answerChecker } from '../answers/described-answers.ts';
import { createTestClient, requestToken, type TestClient } from '../clients/test-client.ts';
import { openTcpGate, type TcpGate } from '../doubles/tcp-gate.ts';
import { grantSiteAccess } from '../fixtures/grant-site-access.ts';
import { createTestDatabase, createTestQueuePrefix, testRedisUrl } from './stack.ts';

const PASSWORD = 'correct horse';
const CLIENT = { clientId: 'demo', secret: 's3cret' };
const SCOPES = ['datahub-api', 'push-data'];
const LOG = createLog('silent', 'test');

export interface TestApi {
  readonly parts: Parts;
  /** The way of the service to its database. */
  readonly databaseGate: TcpGate;
  /** A pool of its own, so that a test of the pool of the service does not disturb the test. */
  readonly database: Database;
  readonly origin: string;
  readonly grpcAddress: string;
  readonly accountId: number;
  readonly otherAccountId: number;
  /** MANAGER of the account, may push. Answers to it, and to others who sign in, must be as the API describes them. */
  readonly manager: TestClient;
  /** MANAGER of the other account, may push. */
  readonly stranger: TestClient;
  /** Adds a user, who may push, to the account and signs in. */
  signIn(userName: string, role: UserRole, options?: SignInOptions): Promise<TestClient>;
  /** Writes every accepted push of the account, in transactions of at most `maxRows` readings. */
  ingest(maxRows?: number): Promise<void>;
  close(): Promise<void>;
}

export interface SignInOptions {
  readonly sites?: readonly number[];
  readonly scopes?: readonly string[];
  readonly mayPush?: boolean;
}

/** @param environment settings that differ from the defaults. */
export async function startTestApi(environment: Readonly<Record<string, string>> = {}): Promise<TestApi> {
  const test = await createTestDatabase();
  const databaseGate = await openTcpGate(test.url);
  const listener = await listenHttp('127.0.0.1', 0);
  const config = readConfig({
    DATABASE_URL: databaseGate.url,
    REDIS_URL: testRedisUrl(),
    QUEUE_PREFIX: createTestQueuePrefix(),
    ACCESS_CACHE_SEC: '0',
    HTTP_PORT: String(listener.port),
    ...environment,
  });
  const parts = openParts(config, LOG);
  const database = openDatabase({ url: test.url, poolSize: 4, applicationName: 'test', log: LOG });
  const accountId = await createAccount(database, { name: 'North' });
  const otherAccountId = await createAccount(database, { name: 'South' });
  await registerClient(database, { ...CLIENT, scopes: SCOPES });
  const api = await startApi(parts, listener);
  const grpc = await startGrpcServer(parts, '127.0.0.1', 0);
  const origin = `http://127.0.0.1:${listener.port}`;
  const checkAnswer = answerChecker(await buildDocument(describeApi(config)));
  const signInTo =
    (account: number) =>
    async (userName: string, role: UserRole, options: SignInOptions = {}) => {
      await addUser(database, account, userName, role, options);
      return createTestClient(origin, await requestTokenOf(origin, userName, options.scopes ?? SCOPES), checkAnswer);
    };
  return {
    ...{ parts, databaseGate, database, origin, grpcAddress: grpc.address, accountId, otherAccountId },
    manager: await signInTo(accountId)('max', 'MANAGER'),
    stranger: await signInTo(otherAccountId)('sam', 'MANAGER'),
    signIn: signInTo(accountId),
    ingest: async (maxRows = 100_000) => {
      while ((await ingestAccount(database, accountId, maxRows)) > 0);
    },
    close: async () => {
      await Promise.all([api.stop(), grpc.stop(1000)]);
      await Promise.all([parts.close(), database.end()]);
      await databaseGate.shut();
      await test.drop();
    },
  };
}

async function addUser(
  database: Database,
  accountId: number,
  userName: string,
  role: UserRole,
  { sites = [], mayPush = true }: SignInOptions,
): Promise<void> {
  const userId = await createUser(database, { userName, password: PASSWORD, role, accountIds: [accountId] });
  for (const siteId of sites) await grantSiteAccess(database, { userId, siteId, level: 'Write' });
  if (mayPush) await addClaim(database, { accountId, userId, claimType: 'datapusher.standard' });
}

function requestTokenOf(origin: string, username: string, scopes: readonly string[]): Promise<string> {
  return requestToken(origin, {
    grant_type: 'password',
    client_id: CLIENT.clientId,
    client_secret: CLIENT.secret,
    username,
    password: PASSWORD,
    scope: scopes.join(' '),
  });
}
