/**
 * Requests every listing (an operation that returns a list of rows) from an API process with a small heap (R-A14). To
 * test with more rows, set LISTING_ROWS=100000 in the environment.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { type Database, openDatabase } from '../../../src/platform/database/database.ts';
import { createLog } from '../../../src/platform/log.ts';
import { describeApi } from '../../../src/roles/api-description.ts';
import { requestToken } from '../../support/clients/test-client.ts';
import { addAccount, addClient, addUser, passwordGrant } from '../../support/fixtures/accounts.ts';
import { addLongListings, type LongListings } from '../../support/fixtures/long-listings.ts';
import { type RoleProcess, startRoles } from '../../support/services/role-process.ts';
import {
  createTestDatabase,
  createTestQueuePrefix,
  type TestDatabase,
  testRedisUrl,
} from '../../support/services/stack.ts';

const ROWS = Number(process.env.LISTING_ROWS ?? 10_000);
/**
 * V8 ends a process after four slow garbage collections that leave more than 80 % of the heap limit in use, so a busy
 * machine needs a higher limit than an idle one. Measured with 10,000 rows (2026-11-22): 60 MB stay in use without any
 * request, 62 to 66 MB during most listings, and 70 MB during listViews, whose rows are the largest. On an idle
 * machine, listMappers and listViews failed with a limit of 68 MB; listSources and nine other listings failed with 64
 * MB; no listing failed with 72 MB. On a busy machine, listSources once failed with 80 MB. The limit grows with the
 * number of rows: it is 89 MB for 10,000 rows and 256 MB for 100,000 rows.
 */
const HEAP_MEBIBYTES = Math.round(70 + (186 * ROWS) / 100_000);
const HUGE_PAGE = 1_000_000;
/** Maximum wait for the end of the API process after a request failed. */
const END_MS = 10_000;
const LOG_TAIL = 2000;

interface Walk {
  readonly path: string;
  /** Queries to test in addition to the query that requests all rows. */
  readonly queries?: readonly string[];
  /**
   * What the test expects of the listing:
   * - `all`: exactly `ROWS` rows.
   * - `few`: a short listing; the number of rows is not checked.
   * - a number: pages of at most this many rows. A request for a larger page is refused, or gets the largest page.
   */
  readonly rows: 'all' | 'few' | number;
  readonly body?: object;
}

const CATALOGUES =
  `Units,UnitFamilies,TimeZones,Languages,VariableTypes,Granularities,TimePeriods,Aggregates,QuantityTypes,
  PeriodTypes,SiteTypes,SourceTypes,EnergyTypes,EnergyUsages,AccountFeatures,AccountSecondaryAccesses`
    .split(',')
    .map((name) => `list${name.trim()}`);

const USER_LEVELS = ['DisplayLevel=Verbose'];

function walksOf(
  { sourceId, variableId, webhookId, importId, formId }: LongListings,
  accountId: number,
  userId: string,
) {
  const ofVariable = `variableId=${variableId}`;
  const all = (path: string, queries: readonly string[] = []): Walk => ({ path, queries, rows: 'all' });
  const walks: Readonly<Record<string, Walk>> = {
    getOperation: { path: '/api/operations/many?all=true', rows: 1000 },
    listRejectedElements: { path: '/api/operations/many/rejected', rows: 1000 },
    listMappers: all('/account/mappers'),
    readPoints: all(`/data?${ofVariable}`),
    queryPoints: { path: '/data', body: { variableIds: [variableId] }, rows: 'all' },
    compareVersions: all(`/data/compare?${ofVariable}&leftVersion=v1&rightAsOf=2100-01-01`),
    listVersions: all(`/variables/${variableId}/versions`),
    listRuns: all(`/variables/${variableId}/runs`),
    listDeclarations: { path: `/sources/${sourceId}/variables/${variableId}/calculated/history`, rows: 1000 },
    listSites: all('/sites'),
    listSources: all('/sources'),
    listVariables: all('/variables', ['displayLevel=Verbose']),
    listVariablesOfSource: all(`/variables/source/${sourceId}`),
    listImportedRows: all(`/structure/import/${importId}/rows`),
    listForms: { path: '/form', rows: 'few' },
    listFormValues: all(`/form/${formId}/values`),
    listAudit: { path: '/account/audit', rows: 10_000 },
    listMyAccounts: all('/account/user/accounts'),
    listUsers: all('/account/users', USER_LEVELS),
    searchUsers: all('/user/users'),
    listVisibleUsers: all('/account/users/visibleToMe'),
    listUsersOfAccount: all(`/account/usersForAccount/${accountId}`),
    listUserMapping: all('/account/usermapping'),
    listMappedUsers: all('/account/usermapping/users'),
    listViews: all('/account/users/views'),
    listClaims: all(`/account/user/claim/${userId}`),
    listUserFeatures: { path: `/account/user/${userId}/features`, rows: 'few' },
    listUserSecondaryAccesses: { path: `/account/user/${userId}/secondaryAccesses`, rows: 'few' },
    listClients: { path: '/admin/clients', rows: 'few' },
    listInvitations: all('/account/invitations'),
    listWebhooks: { path: '/account/webhooks', rows: 'few' },
    listWebhookHistory: { path: `/account/webhooks/${webhookId}/history`, rows: 500 },
  };
  return walks;
}

/** @returns the number of items of a listing: the objects directly in the outermost array of a JSON text. */
async function countItems(body: ReadableStream<Uint8Array>): Promise<number> {
  const [QUOTE, BACKSLASH, OPEN, CLOSE, BEGIN, END] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];
  let [count, depth, arrayDepth] = [0, 0, -1];
  let [isText, isEscaped] = [false, false];
  for await (const piece of body) {
    for (let index = 0; index < piece.length; index += 1) {
      const byte = piece[index];
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isText = false;
      } else if (byte === QUOTE) isText = true;
      else if (byte === OPEN || byte === BEGIN) {
        if (byte === OPEN && depth === arrayDepth) count += 1;
        depth += 1;
        if (byte === BEGIN && arrayDepth < 0) arrayDepth = depth;
      } else if (byte === CLOSE || byte === END) depth -= 1;
    }
  }
  if (depth !== 0) throw new Error('the answer is truncated');
  return count;
}

describe('listings: many rows from a process with a small heap', () => {
  let stack: TestDatabase;
  let database: Database;
  let service: RoleProcess;
  let token: string;
  let walks: Readonly<Record<string, Walk>>;
  const environment = () => ({
    DATABASE_URL: stack.url,
    REDIS_URL: testRedisUrl(),
    QUEUE_PREFIX: createTestQueuePrefix(),
  });

  beforeAll(async () => {
    stack = await createTestDatabase();
    database = openDatabase({ url: stack.url, poolSize: 2, applicationName: 'test', log: createLog('silent', 'test') });
    const accountId = await addAccount(database, 'Many');
    const userId = await addUser(database, 'walker', { role: 'ADMIN', accountIds: [accountId] });
    await addClient(database);
    walks = walksOf(await addLongListings(database, accountId, userId, ROWS), accountId, userId);
    const options = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MEBIBYTES}`, API_RATE_PER_MINUTE: '0' };
    service = await startRoles(['api'], { ...environment(), ...options, LOG_LEVEL: 'error' });
    token = await requestToken(service.http, passwordGrant('walker'));
  }, 300_000);
  afterAll(async () => {
    await service?.kill();
    await database?.end();
    await stack?.drop();
  });

  const listings = describeApi(
    readConfig({ DATABASE_URL: 'postgres://host/name', REDIS_URL: 'redis://host' }),
  ).operations.filter(({ isListing }) => isListing);

  const ask = async ({ path, body }: Walk, query: string) => {
    const address = `${service.http}${path}${query === '' ? '' : `${path.includes('?') ? '&' : '?'}${query}`}`;
    const headers = {
      authorization: `Bearer ${token}`,
      'accept-encoding': 'identity',
      ...(body && { 'content-type': 'application/json' }),
    };
    try {
      const answer = await fetch(address, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
      return { status: answer.status, rows: answer.body ? await countItems(answer.body) : 0 };
    } catch (error) {
      throw await explain(error);
    }
  };

  /**
   * @returns `error` when the API process is still running; else an error that quotes the `FATAL ERROR` line of the
   * process's log, or the end of this log when it has no such line.
   */
  const explain = async (error: unknown): Promise<unknown> => {
    const end = await Promise.race([service.ended, pause(END_MS)]);
    if (end === undefined) return error;
    const reason = /FATAL ERROR.*/.exec(service.log())?.[0] ?? service.log().slice(-LOG_TAIL);
    return new Error(`the api ended with ${end} at a heap of ${HEAP_MEBIBYTES} MB: ${reason}`, { cause: error });
  };

  test('these tests cover every listing in the OpenAPI document (R-A14)', () => {
    const known = [...Object.keys(walks), ...CATALOGUES];
    expect(listings.map(({ operationId }) => operationId).filter((name) => !known.includes(name))).toEqual([]);
  });

  test.each(listings.map((listing) => [listing.operationId, listing] as const))(
    '%s returns all rows or, if its page size is limited, a page of this size (R-A14)',
    async (operationId, { path, query }) => {
      const walk: Walk = walks[operationId] ?? { path, rows: 'few' };
      const isPaged = Object.keys(query?.parameters ?? {}).find((name) => /itemsPerPage$/i.test(name));
      const whole = isPaged ? `${isPaged}=${HUGE_PAGE}` : '';
      for (const wanted of [whole, ...(walk.queries ?? [])]) {
        const { status, rows } = await ask(walk, wanted);
        if (walk.rows === 'all') {
          expect({ wanted, status, rows }).toEqual({ wanted, status: 200, rows: ROWS });
        } else if (walk.rows === 'few') expect({ wanted, status }).toEqual({ wanted, status: 200 });
        else {
          expect([200, 400], wanted).toContain(status);
          expect(rows, wanted).toBeLessThanOrEqual(walk.rows);
          const largest = await ask(walk, `${isPaged}=${walk.rows}`);
          expect(largest).toEqual({ status: 200, rows: Math.min(walk.rows, ROWS) });
        }
      }
    },
    120_000,
  );
});
