/**
 * Tests the upgrade of a populated database, whose rows were stored by a service with the schema of migration 0029
 * (test/fixtures/upgrade). The test migrates the rows to the newest schema with `migrate`. Service processes of the
 * current version then work with the rows. A new migration needs no change of this test, unless it changes the number
 * of rows of a table (RECOUNTED_TABLES).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { createLog } from '../../../src/platform/log.ts';
import { openReceiver, type WebhookReceiver } from '../../support/doubles/webhook-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { createPopulatedDatabase, type PopulatedDatabase } from '../../support/fixtures/populated-database.ts';
import { type ApiClient, signIn } from '../../support/fixtures/sign-in.ts';
import { type RoleProcess, startRoles } from '../../support/services/role-process.ts';
import { createTestQueuePrefix, testRedisUrl } from '../../support/services/stack.ts';

const OLD_SCHEMA = '0029';
const MANAGER = 'mia@north.example';
const USER = 'uri@north.example';
const SHARED = '01942000-0000-7abc-8def-00112233000';
const SHARED_ENDED = '01942000-0000-7abc-8def-44556677000';
const id = (end: string) => `00000000-0000-4000-8000-0000000000${end}`;

/** Tables of the old schema that the fixture leaves empty, with the reason for each table. */
const EMPTY_TABLES: Readonly<Record<string, string>> = {};

/** Tables in which a migration after 0029 adds, merges or removes rows on purpose, with the reason for each table. */
const RECOUNTED_TABLES: Readonly<Record<string, string>> = {
  schema_migration: 'every later migration adds its own row',
  oidc_client: 'a migration adds the client of the console',
};

let old: PopulatedDatabase;
let before: ReadonlyMap<string, number>;
let after: ReadonlyMap<string, number>;
let wholeFrom: readonly object[];
let environment: Readonly<Record<string, string>>;
let roles: RoleProcess;
let api: ApiClient;

beforeAll(async () => {
  old = await createPopulatedDatabase(OLD_SCHEMA);
  before = await countRows();
  await migrate(old.url, createLog('error', 'test'));
  after = await countRows();
  wholeFrom = await findWholeFrom();
  environment = {
    DATABASE_URL: old.url,
    REDIS_URL: testRedisUrl(),
    QUEUE_PREFIX: createTestQueuePrefix(),
    SWEEP_INTERVAL_MS: '300',
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
  };
  roles = await startRoles(['api', 'ingester'], environment);
  api = await signIn(roles.http, undefined, MANAGER);
}, 90_000);

afterAll(async () => {
  await roles?.kill();
  await old?.drop();
});

/** @returns the number of rows in each table of the service. */
async function countRows(): Promise<ReadonlyMap<string, number>> {
  const { rows } = await old.client.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = current_schema() and table_type = 'BASE TABLE' order by 1`,
  );
  const counts = rows.map(({ name }) => `select '${name}' as name, count(*)::int as count from "${name}"`);
  const counted = await old.client.query<{ name: string; count: number }>(counts.join(' union all '));
  return new Map(counted.rows.map(({ name, count }) => [name, count]));
}

/** @returns for each series that may lack versions, the instant from which `asOf` reads of the series are complete. */
async function findWholeFrom(): Promise<readonly object[]> {
  const { rows } = await old.client.query<{ id: number; instant: string }>(
    'select variable_id as id, history_from::text as instant from series where history_from is not null order by 1',
  );
  return rows.map(({ id: variableId, instant }) => ({ variableId, historyFrom: instant }));
}

const read = <Body>(path: string) => api.call<Body>('GET', path);

interface Row {
  readonly date: string;
  readonly rawValue: number;
}

/** @returns the values of a read, in order of date. */
const valuesOf = async (query: string) => (await read<readonly Row[]>(`/data?${query}`)).map((row) => row.rawValue);

/** Waits until the pushes and the file that were pending during the upgrade have been ingested. */
async function awaitIngest(): Promise<void> {
  for (const label of ['nightly', `${SHARED}0`, `${SHARED}1`]) {
    await eventually(`the end of ${label}`, async () => (await readState(`/api/operations/${label}`)) === 'Completed');
  }
  await eventually('the end of the file', async () => (await readState(`/storage/${id('d1')}`)) === 'Completed');
}

const readState = async (path: string) => (await read<{ state: string }>(path)).state;

describe('upgrade: the fixture', () => {
  it('has a row in every table of the old schema', () => {
    const empty = [...before].filter(([, count]) => count === 0).map(([name]) => name);
    expect(before.size).toBeGreaterThan(40);
    expect(empty).toEqual(Object.keys(EMPTY_TABLES));
  });

  it('a table that still exists keeps its number of rows, unless a migration adds, merges or removes rows in it', () => {
    const kept = [...before].filter(([name]) => after.has(name) && !(name in RECOUNTED_TABLES));
    expect(kept.map(([name]) => [name, after.get(name)])).toEqual(kept);
  });
});

describe('upgrade: identity and accounts', () => {
  it('the signing key is kept, and no key is added', async () => {
    const { keys } = await read<{ keys: { kid: string }[] }>('/realms/tidemark/protocol/openid-connect/certs');
    expect(keys.map(({ kid }) => kid)).toEqual([old.signingKid]);
  });

  it('a USER signs in with the password set before the upgrade and sees only the granted sites (R-B9)', async () => {
    const user = await signIn(roles.http, undefined, USER);
    expect(await user.call('GET', '/sites')).toMatchObject([{ id: 1, name: 'Mill' }]);
  });

  it('a locked user stays locked (R-B11)', async () => {
    const lea = 'lea@south.example';
    await expect(signIn(roles.http, undefined, lea)).rejects.toThrow('no token');
    const { rows } = await old.client.query('select is_locked, lock_reason from app_user where user_name = $1', [lea]);
    expect(rows).toEqual([{ is_locked: true, lock_reason: 'left the company' }]);
  });

  it.each([
    ['/account', { name: 'North Mills', timeZoneId: 'Europe/Brussels' }],
    ['/account/users', [{ userName: MANAGER }, { userName: 'operator' }, { userName: USER }]],
    ['/account/users/views', [{ name: 'Maintenance', filter: { searchText: 'zoe', roles: ['USER'] } }]],
    ['/account/invitations', [{ email: 'noor@north.example' }]],
    [`/account/user/claim/${id('03')}`, [{ claimType: 'Department', claimValue: 'Maintenance' }]],
    ['/account/audit', [{ action: 'UserUpdated', targetName: USER, requestId: 'request-of-0029' }]],
    ['/account/mappers', [{ id: id('c1'), name: 'Logger lines' }]],
  ])('GET %s returns the rows stored before the upgrade', async (path, expected) => {
    expect(await read(path)).toMatchObject(expected);
  });
});

it('upgrade: if a write did more than append, history of its variable counts as complete only since the last such write (R-F9)', () => {
  // The table `point_rewrite` records writes that did more than append. Only variable 1 has a row there.
  expect(wholeFrom).toEqual([{ variableId: 1, historyFrom: '2025-01-03 08:00:00+00' }]);
});

describe('upgrade: structure and calculation', () => {
  it.each([
    [
      '/sites',
      [
        { id: 1, name: 'Mill' },
        { id: 2, name: 'Depot' },
      ],
    ],
    ['/sites/1', { name: 'Mill', clientData: { costCentre: '4711' } }],
    [
      '/sources',
      [
        { id: 1, siteId: 1, serialNumber: 'MH-A-1', tags: ['main'] },
        { id: 2, siteId: 2 },
      ],
    ],
    [
      '/variables',
      [{ id: 1, isVersioned: true, versionLimit: 5 }, { id: 2, isVersioned: false }, { id: 3 }, { id: 4 }],
    ],
    [
      '/variables/3',
      { calculated: { calculatedVariableFormulas: [{ variables: [{ alias: 'energy' }, { alias: 'outdoor' }] }] } },
    ],
    ['/variables/3/runs', [{ state: 'Succeeded', outcome: 'ok', counts: { stored: 1 } }]],
  ])('GET %s returns the rows stored before the upgrade', async (path, expected) => {
    expect(await read(path)).toMatchObject(expected);
  });
});

describe('upgrade: points, pushes and files', () => {
  beforeAll(awaitIngest, 60_000);

  it.each([
    ['points of the first version', 'variableId=1&asOf=2025-01-02T12:00:00Z', [10, 11]],
    ['points of the revised version', 'variableId=1&asOf=2025-01-03T12:00:00Z', [10.5, 11]],
    ['points with a VersionTag', 'variableId=4&version=D-2', [40]],
    ['points of a calculated variable', 'variableId=3', [3]],
  ])('%s written before the upgrade are readable (R-G2)', async (_what, query, values) => {
    expect(await valuesOf(query)).toEqual(values);
  });

  it('if batches and a file were pending during the upgrade, their points are readable afterwards', async () => {
    expect(await valuesOf('variableId=1')).toEqual([10.75, 11, 12, 13]);
    expect(await valuesOf('variableId=2')).toEqual([3.5, 4, 4.5, 20, 21]);
    expect(await valuesOf('variableId=4')).toEqual([43]);
  });

  it.each([
    ['keeps the versions of other tags', 1, { 'D-1': 1, revised: 1, null: 4 }],
    ['replaces the version of its own tag', 4, { 'D-1': 1, 'D-2': 1 }],
  ])(
    'if a write with a VersionTag was pending during the upgrade, this write %s (§9.2)',
    async (_what, variableId, expected) => {
      const versions = await read<readonly { version: string | null; pointCount: number }[]>(
        `/variables/${variableId}/versions`,
      );
      expect(Object.fromEntries(versions.map(({ version, pointCount }) => [version, pointCount]))).toEqual(expected);
    },
  );

  it.each([
    ['first-import', { state: 'Completed', accepted: { elements: 2, readings: 3 }, mapperId: id('c1') }],
    ['nightly', { state: 'Completed', accepted: { elements: 3, readings: 3 } }],
    [`${SHARED}0`, { state: 'Completed', accepted: { elements: 1, readings: 2 } }],
    [`${SHARED}1`, { state: 'Completed', accepted: { elements: 1, readings: 1 } }],
    [`${SHARED_ENDED}2`, { state: 'Completed', accepted: { elements: 1, readings: 1 } }],
    ['broken', { state: 'Failed', failure: 'its readings could not be written' }],
  ])('an operation from before the upgrade is still found by its label "%s" (R-D7)', async (label, expected) => {
    expect(await read(`/api/operations/${label}`)).toMatchObject({ operationId: label, ...expected });
    expect(await read(`/api/operations/${label}?all=true`)).toMatchObject([{ operationId: label, ...expected }]);
  });

  it('if two pushes were stored together, the API returns 404 for the label that a third push would have had (R-D7)', async () => {
    expect((await api.get(`/api/operations/${SHARED}2`)).status).toBe(404);
  });

  it('the rejected elements of an old operation are listed and can be replayed (R-D8)', async () => {
    const rejected = await read('/api/operations/first-import/rejected');
    expect(rejected).toMatchObject([{ code: 'target_not_found', element: { mappingConfig: 'mill.gas' } }]);
    const gas = { name: 'Gas', mappingConfig: 'mill.gas' };
    const { id: variableId } = await api.call<{ id: number }>('POST', '/variables/source/1', gas);
    await api.call('POST', '/api/operations/first-import/replay');
    await eventually('the replayed point', async () => (await valuesOf(`variableId=${variableId}`)).length === 1);
  });

  it.each([
    ['without errors', 'd1', { filename: 'week-1.csv', state: 'Completed', counts: { ingested: 2, rejected: 0 } }],
    [
      'with an invalid row',
      'd2',
      { state: 'Completed', ignoredColumns: ['remark'], errors: [{ row: 3, code: 'invalid_date' }] },
    ],
  ])(
    'the status of a file that was uploaded before the upgrade is readable: a file %s (R-E1)',
    async (_what, end, expected) => {
      expect(await read(`/storage/${id(end)}`)).toMatchObject(expected);
    },
  );
});

describe('upgrade: webhooks', () => {
  let receiver: WebhookReceiver;
  let deliverer: RoleProcess | undefined;
  beforeAll(async () => {
    receiver = await openReceiver();
  });
  afterAll(async () => {
    await deliverer?.kill();
    await receiver?.close();
  });

  it('a webhook keeps its history and its success count (R-I1, R-I5)', async () => {
    expect(await read('/account/webhooks?displayLevel=Verbose')).toMatchObject([
      { id: id('e1'), name: 'Ledger', successCount: 1 },
    ]);
    const history = await read<readonly { eventId: string; state: string }[]>(`/account/webhooks/${id('e1')}/history`);
    expect(history).toContainEqual(expect.objectContaining({ eventId: id('f1'), state: 'Succeeded' }));
    expect(history).toContainEqual(expect.objectContaining({ eventId: id('f2'), state: 'Pending' }));
  });

  it('the pending messages and the events in the outbox are delivered, signed with the old secret (R-I8)', async () => {
    const url = [{ op: 'replace', path: '/url', value: receiver.url }];
    expect((await api.patch(`/account/webhooks/${id('e1')}`, url)).status).toBe(200);
    deliverer = await startRoles(['deliverer'], environment);
    const wanted = ['waiting-import', 'first-import', `${SHARED_ENDED}0`, `${SHARED_ENDED}2`, `${SHARED}1`];
    await eventually('the messages', async () => {
      const text = JSON.stringify(receiver.received.map(({ body }) => body.data));
      return wanted.every((label) => text.includes(`"${label}"`));
    });
    expect(receiver.forged).toEqual([]);
  });
});
