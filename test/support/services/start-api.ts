/** Runs the api and grpc roles in the test's process, on a new database with two accounts. */
import { type Config, readConfig } from '../../../src/config.ts';
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
import { answerChecker, type CheckAnswer } from '../answers/described-answers.ts';
import { createTestClient, requestToken, type TestClient } from '../clients/test-client.ts';
import { openTcpGate, type TcpGate } from '../doubles/tcp-gate.ts';
import { addAccount, addClient, addUser, passwordGrant } from '../fixtures/accounts.ts';
import { createTestDatabase, createTestQueuePrefix, type TestDatabase, testRedisUrl } from './stack.ts';

const LOG = createLog('silent', 'test');

export interface TestApi {
  readonly parts: Parts;
  /** The test's own connections, which bypass the proxy and the pools of the roles. */
  readonly database: Database;
  readonly origin: string;
  readonly grpcAddress: string;
  readonly accountId: number;
  readonly otherAccountId: number;
  /**
   * Client of a MANAGER who may push. The answers to this client and the clients below are checked against the OpenAPI
   * document.
   */
  readonly manager: TestClient;
  /** A MANAGER of the account `otherAccountId` who may push. */
  readonly stranger: TestClient;
  /** Adds a user to the account and signs in. By default, the user has the permission to push. */
  signIn(userName: string, role: UserRole, options?: SignInOptions): Promise<TestClient>;
  /** Ingests every accepted push of the account, at most `maxRows` readings per transaction. */
  ingest(maxRows?: number): Promise<void>;
  close(): Promise<void>;
}

export interface GatedTestApi extends TestApi {
  /** TCP proxy between the roles and their database; its `shut` makes the database unreachable for the roles. */
  readonly databaseGate: TcpGate;
}

type Settings = Readonly<Record<string, string>>;

export interface SignInOptions {
  readonly sites?: readonly number[];
  readonly scopes?: readonly string[];
  readonly mayPush?: boolean;
}

/** @param environment the settings whose values differ from the defaults. */
export async function startTestApi(environment: Settings = {}): Promise<TestApi> {
  const test = await createTestDatabase();
  return start(test, test.url, environment);
}

/**
 * Starts the roles with a TCP proxy between them and their database, for tests of faults. Other tests use no proxy,
 * because a proxy would take a tenth of their CPU time.
 */
export async function startGatedTestApi(environment: Settings = {}): Promise<GatedTestApi> {
  const test = await createTestDatabase();
  const databaseGate = await openTcpGate(test.url);
  const api = await start(test, databaseGate.url, environment);
  const close = async () => {
    await api.close();
    await databaseGate.shut();
  };
  return { ...api, databaseGate, close };
}

/**
 * @param databaseUrl URL at which the api and grpc roles reach the database; the test's own connections use `test.url`.
 */
async function start(test: TestDatabase, databaseUrl: string, environment: Settings): Promise<TestApi> {
  const listener = await listenHttp('127.0.0.1', 0);
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    REDIS_URL: testRedisUrl(),
    QUEUE_PREFIX: createTestQueuePrefix(),
    ACCESS_CACHE_SEC: '0',
    HTTP_PORT: String(listener.port),
    ...environment,
  });
  const parts = openParts(config, LOG);
  const database = openDatabase({ url: test.url, poolSize: 4, applicationName: 'test', log: LOG });
  const accountId = await addAccount(database, 'North');
  const otherAccountId = await addAccount(database, 'South');
  await addClient(database);
  const api = await startApi(parts, listener);
  const grpc = await startGrpcServer(parts, '127.0.0.1', 0);
  const origin = `http://127.0.0.1:${listener.port}`;
  const checkAnswer = await getAnswerChecker(config, environment);
  const signInTo =
    (account: number) =>
    async (userName: string, role: UserRole, { scopes, ...options }: SignInOptions = {}) => {
      await addUser(database, userName, { role, accountIds: [account], mayPush: true, ...options });
      const token = await requestToken(origin, passwordGrant(userName, scopes && { scopes }));
      return createTestClient(origin, token, checkAnswer);
    };
  return {
    ...{ parts, database, origin, grpcAddress: grpc.address, accountId, otherAccountId },
    manager: await signInTo(accountId)('max', 'MANAGER'),
    stranger: await signInTo(otherAccountId)('sam', 'MANAGER'),
    signIn: signInTo(accountId),
    ingest: async (maxRows = 100_000) => {
      while ((await ingestAccount(database, accountId, maxRows)) > 0);
    },
    close: async () => {
      await Promise.all([api.stop(), grpc.stop(1000)]);
      await Promise.all([parts.close(), database.end()]);
      await test.drop();
    },
  };
}

/**
 * The answer checkers. The key is the role's settings. A checker is reused, because making one takes 0.2 s of CPU time.
 */
const answerCheckers = new Map<string, CheckAnswer>();

/**
 * Roles with the same settings share a checker. Their OpenAPI documents differ only in URLs, and the checker ignores
 * URLs.
 */
async function getAnswerChecker(config: Config, environment: Settings): Promise<CheckAnswer> {
  const key = JSON.stringify(environment);
  const known = answerCheckers.get(key);
  if (known) return known;
  const made = answerChecker(await buildDocument(describeApi(config)));
  answerCheckers.set(key, made);
  return made;
}
