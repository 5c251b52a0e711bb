import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noteFailedBatch, retryBatches } from '../../../src/push/store/failed-batches.ts';
import { announceLateOperations, purgeOldOperations } from '../../../src/push/store/operation-upkeep.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { eventually } from '../../support/eventually.ts';
import { firstBatchOf } from '../../support/fixtures/failed-batches.ts';
import { createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { BEGIN_HOLDING } from '../../support/services/stack.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const DATE = '2026-01-01T00:00:00Z';

interface Operation {
  readonly id: number;
  readonly operationId: string;
  readonly state: string;
  readonly accepted: { readonly elements: number; readonly readings: number };
  readonly rejected: readonly { readonly index: number; readonly code: string }[];
  readonly failure?: string;
  readonly acceptedDate: string;
  readonly startedDate?: string;
  readonly completedDate?: string;
}

let api: TestApi;
let sourceId: number;
let variableId: number;
beforeAll(async () => {
  api = await startTestApi();
  ({ sourceId, variableId } = await createStructure(api.manager, { isVersioned: true }));
});
afterAll(() => api.close());

const one = (target: unknown, value = 1) => [{ variableId: target, data: [{ date: DATE, value }] }];
const push = (body: unknown, query = '', client: TestClient = api.manager) =>
  client.post<{ operationId: string; accepted: unknown; rejected: unknown[] }>(`/api/data${query}`, body);
const find = (label: string, client: TestClient = api.manager) =>
  client.get<Operation>(`/api/operations/${encodeURIComponent(label)}`);
const findAll = async (label: string) => (await api.manager.get<Operation[]>(`/api/operations/${label}?all=true`)).body;

/** @returns the operations with this label, as listed in DataPushCompleted events, in the order of these events. */
async function announced(label: string): Promise<readonly Record<string, unknown>[]> {
  const { rows } = await api.database.query<{ operation: Record<string, unknown> }>(
    `select told as operation from outbox_event, jsonb_array_elements(payload -> 'operations') told
     where type = 'DataPushCompleted' and told ->> 'operationId' = $1 order by id`,
    [label],
  );
  return rows.map(({ operation }) => operation);
}

let labels = 0;
const newLabel = () => `label-${++labels}`;

describe('push: an operation', () => {
  it('goes from Queued to Completed and shows counts, rejections and times (R-D7)', async () => {
    const label = newLabel();
    await push([...one(variableId), ...one(2_000_000_000)], `?operationId=${label}`);
    const queued = (await find(label)).body;
    expect(queued).toMatchObject({
      operationId: label,
      state: 'Queued',
      accepted: { elements: 1, readings: 1 },
      rejected: [{ index: 1, code: 'target_not_found' }],
    });
    expect(queued.completedDate).toBeUndefined();
    await api.ingest();
    const { state, acceptedDate, startedDate = '', completedDate = '' } = (await find(label)).body;
    expect(state).toBe('Completed');
    expect(Date.parse(acceptedDate)).toBeLessThanOrEqual(Date.parse(startedDate));
    expect(Date.parse(startedDate)).toBeLessThanOrEqual(Date.parse(completedDate));
    expect(completedDate).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
  });

  it('is Processing while a slow write is in progress; startedDate is the start of the write (R-D7)', async () => {
    await api.ingest();
    const label = newLabel();
    await push(one(variableId), `?operationId=${label}`);
    const blocker = await api.database.connect();
    await blocker.query(BEGIN_HOLDING);
    await blocker.query('select from series where variable_id = $1 for update', [variableId]);
    const ingesting = api.ingest();
    await eventually('the mark', async () => (await find(label)).body.state === 'Processing');
    const { rows } = await blocker.query<{ begin: string }>(
      `select xact_start as begin from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    await blocker.query('commit');
    blocker.release();
    await ingesting;
    // On a busy machine, the state may change to `Processing` some seconds after the write starts. `startedDate` must
    // still be the instant at which the write started.
    const { state, startedDate } = (await find(label)).body;
    expect({ state, startedDate }).toEqual({ state: 'Completed', startedDate: rows[0]?.begin });
    const versions = await api.manager.get<{ versionTimestamp: string }[]>(
      `/data?variableId=${variableId}&pagingOrder=DESC`,
    );
    expect(versions.body[0]?.versionTimestamp.localeCompare(startedDate ?? '')).toBeGreaterThanOrEqual(0);
  });

  it('is Failed, with the reason, when its readings cannot be written (R-D7)', async () => {
    await api.ingest();
    const label = newLabel();
    await push(one(variableId), `?operationId=${label}`);
    const outcomes: boolean[] = [];
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const batchId = await firstBatchOf(api.database, api.accountId);
      outcomes.push(await noteFailedBatch(api.database, api.accountId, batchId, new Error('no room')));
    }
    expect(outcomes).toEqual([false, false, false, false, true]);
    const failure =
      'the readings could not be written: an internal error; the service keeps the push, so replay the operation to try again';
    expect((await find(label)).body).toMatchObject({ state: 'Failed', failure });
    expect(await announced(label)).toMatchObject([{ state: 'Failed', failure }]);
    await api.database.query('delete from push_batch where set_aside_date is not null');
  });

  it.each([
    [
      'the database',
      'SQLSTATE 22003',
      Object.assign(new Error('value 7 of table point_version is out of range'), { code: '22003' }),
    ],
    ['the service', 'internal error', new Error('password of the database is secret')],
  ])(
    'when an error in %s makes an operation fail, the operation shows "%s" instead of the message of the error (R-A5)',
    async (_of, shown, error) => {
      await api.ingest();
      const label = newLabel();
      await push(one(variableId), `?operationId=${label}`);
      await failFirstBatch(error);
      const { failure } = (await find(label)).body as { failure: string };
      expect(failure).toContain(shown);
      expect(failure).not.toContain(error.message);
      await api.database.query('delete from push_batch where set_aside_date is not null');
    },
  );

  it.each([
    ['the newer of two operations with one label', '', 1],
    ['both operations with one label', '?all=true', 2],
  ])(
    'can be replayed after it failed: a replay of %s writes the readings and announces the state Completed (R-D7, R-D8, R-A15)',
    async (_which, query, replayedPushes) => {
      await api.ingest();
      const label = newLabel();
      for (const value of [76, 77]) {
        await push(
          [{ variableId, data: [{ date: `2031-01-01T00:00:${value - 30}Z`, value }] }],
          `?operationId=${label}`,
        );
        await failFirstBatch(new Error('no room'));
      }
      const replayed = await api.manager.post(`/api/operations/${label}/replay${query}`, {});
      const accepted = { elements: replayedPushes, readings: replayedPushes };
      expect(replayed).toMatchObject({ status: 200, body: { accepted } });
      expect((await find(label)).body.state).toBe('Queued');
      await api.ingest();
      const states = (await findAll(label)).map(({ state }) => state);
      expect(states.filter((state) => state === 'Completed')).toHaveLength(replayedPushes);
      expect((await announced(label)).filter(({ state }) => state === 'Completed')).toHaveLength(replayedPushes);
      const rows = await api.manager.get<{ rawValue: number }[]>(
        `/data?variableId=${variableId}&from=2031-01-01T00:00:46Z`,
      );
      expect(rows.body.map(({ rawValue }) => rawValue)).toEqual([76, 77].slice(-replayedPushes));
      await api.database.query('delete from push_batch where set_aside_date is not null');
      const period = { variableIds: [variableId], fromDateUtc: '2031-01-01T00:00:46Z' };
      expect((await api.manager.send('DELETE', '/data', period)).status).toBe(200);
    },
  );

  it('when an operation is Failed and the client sends its push again, the push is written (R-D7, R-A15)', async () => {
    await api.ingest();
    const label = newLabel();
    const body = [{ variableId, data: [{ date: '2031-01-02T00:00:00.000Z', value: 78 }] }];
    await push(body, `?operationId=${label}`);
    await failFirstBatch(new Error('no room'));
    await push(body, `?operationId=${label}`);
    await api.ingest();
    expect((await find(label)).body.state).toBe('Completed');
    await api.database.query('delete from push_batch where set_aside_date is not null');
  });

  it('is queued again by the admin command `retry-batches` after its batch became a dead letter (R-A15)', async () => {
    await api.ingest();
    const label = newLabel();
    await push(one(variableId), `?operationId=${label}`);
    await failFirstBatch(new Error('no room'));
    const other = await retryBatches(api.database, { accountId: api.accountId + 1000 });
    expect(other).toMatchObject({ batches: 0, accountIds: [] });
    expect(await retryBatches(api.database, {})).toMatchObject({ batches: 1, accountIds: [api.accountId] });
    await api.ingest();
    expect((await find(label)).body.state).toBe('Completed');
  });

  /** Records failed attempts to write the first batch, until the batch is a dead letter. */
  async function failFirstBatch(error: Error): Promise<void> {
    const batchId = await firstBatchOf(api.database, api.accountId);
    while (!(await noteFailedBatch(api.database, api.accountId, batchId, error)));
  }

  it('is Rejected immediately, with a warning in the answer, when no element is accepted (R-D7, §7)', async () => {
    const label = newLabel();
    const warnings = [
      {
        path: '$',
        code: 'nothing_accepted',
        message: expect.stringMatching(/: the element matches either no variable or several variables;/),
      },
    ];
    expect(await push(one(2_000_000_000), `?operationId=${label}`)).toMatchObject({ status: 200, body: { warnings } });
    expect((await find(label)).body).toMatchObject({
      ...{ state: 'Rejected', accepted: { elements: 0, readings: 0 }, warnings },
    });
    expect(await announced(label)).toMatchObject([{ state: 'Rejected', rejected: 1 }]);
  });

  it('is Completed immediately, without a warning, when it has no elements or only empty elements (R-D7)', async () => {
    const { variableId } = await createStructure(api.manager);
    for (const body of [[], [{ variableId, data: [] }]]) {
      const label = newLabel();
      expect((await push(body, `?operationId=${label}`)).body).not.toHaveProperty('warnings');
      expect((await find(label)).body).toMatchObject({ state: 'Completed' });
    }
  });

  it('gets a generated label when the client gives none (R-D7)', async () => {
    const [first, second] = [(await push(one(variableId))).body, (await push(one(variableId))).body];
    expect(first.operationId).not.toBe(second.operationId);
    expect((await find(first.operationId)).body).toMatchObject({ operationId: first.operationId, state: 'Queued' });
  });

  it.each(['a/b c', 'é%', '?x=1', '..', 'x'.repeat(200)])('may have the label "%s" (R-D7)', async (label) => {
    const answer = await push(one(variableId), `?operationId=${encodeURIComponent(label)}`);
    expect(answer.body.operationId).toBe(label);
    if (label !== '..') expect((await find(label)).body.operationId).toBe(label);
  });

  it('must not have a label of more than 200 characters (R-D7)', async () => {
    const answer = await push(one(variableId), `?operationId=${'x'.repeat(201)}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
  });
});

describe('push: a re-sent push', () => {
  it('with the same label and body gets the first answer again and queues no second operation (R-D7)', async () => {
    const label = newLabel();
    const body = [...one(variableId, 5), ...one(2_000_000_000)];
    const [first, again] = [await push(body, `?operationId=${label}`), await push(body, `?operationId=${label}`)];
    expect(again.body).toEqual(first.body);
    expect(await findAll(label)).toHaveLength(1);
    expect(await countQueued(label)).toBe(1);
  });

  it('creates only one operation, even if it arrives many times concurrently (R-D7)', async () => {
    const label = newLabel();
    const answers = await Promise.all(Array.from({ length: 12 }, () => push(one(variableId), `?operationId=${label}`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await findAll(label)).toHaveLength(1);
    expect(await countQueued(label)).toBe(1);
  });

  it('with a different body creates a second operation with the same label (R-D7)', async () => {
    const label = newLabel();
    await push(one(variableId, 1), `?operationId=${label}`);
    await push([...one(variableId, 2), ...one(variableId, 3)], `?operationId=${label}`);
    const all = await findAll(label);
    expect(all.map(({ accepted }) => accepted.elements)).toEqual([2, 1]);
    expect((await find(label)).body.id).toBe(all[0]?.id);
  });

  it('creates a new operation when it comes from another user or after 24 hours (R-D7)', async () => {
    const label = newLabel();
    const other = await api.signIn('again', 'MANAGER');
    await push(one(variableId), `?operationId=${label}`);
    await push(one(variableId), `?operationId=${label}`, other);
    expect(await findAll(label)).toHaveLength(2);
    const age = (by: string) =>
      api.database.query(`update push_operation set accepted_date = accepted_date - $2::interval where label = $1`, [
        label,
        by,
      ]);
    await age('23 hours');
    await push(one(variableId), `?operationId=${label}`);
    expect(await findAll(label)).toHaveLength(2);
    await age('1 hour');
    await push(one(variableId), `?operationId=${label}`);
    await push(one(variableId), `?operationId=${label}`);
    expect(await findAll(label)).toHaveLength(3);
  });

  async function countQueued(label: string): Promise<number> {
    const { rows } = await api.database.query<{ count: number }>(
      `select coalesce(sum(cardinality(operation_ids)), 0)::int as count from push_batch
       where operation_ids && array(select id from push_operation where label = $1)`,
      [label],
    );
    return rows[0]?.count ?? -1;
  }
});

describe('push: DataPushCompleted', () => {
  it('is sent exactly once, at the end, for an operation that ends before it times out (R-D7, R-I8)', async () => {
    const label = newLabel();
    await push(one(variableId), `?operationId=${label}`);
    expect(await announced(label)).toEqual([]);
    await api.ingest();
    await announceLateOperations(api.database);
    expect(await announced(label)).toMatchObject([
      { operationId: label, state: 'Completed', accepted: { elements: 1, readings: 1 }, rejected: 0 },
    ]);
  });

  it('is sent with the state Queued when an operation takes longer than its time-out, and with the final state when an operation ends (R-D7)', async () => {
    await api.ingest();
    const [late, patient] = [newLabel(), newLabel()];
    await push(one(variableId), `?operationId=${late}&operationTimeoutSec=1`);
    await push(one(variableId), `?operationId=${patient}`);
    await eventually('the time-out', async () => announceLateOperations(api.database));
    while (await announceLateOperations(api.database));
    expect(await announced(late)).toMatchObject([{ state: 'Queued' }]);
    expect(await announced(patient)).toEqual([]);
    await api.ingest();
    expect(await announced(late)).toMatchObject([{ state: 'Queued' }, { state: 'Completed' }]);
    expect(await announced(patient)).toMatchObject([{ state: 'Completed' }]);
  });

  it.each([
    ['5', 5],
    ['', 60],
    ['abc', 60],
    ['-5', 60],
    ['1.5', 60],
    ['0', 60],
    ['99999999999', 60],
  ])('for a push with operationTimeoutSec %j, the event is due within %i s (R-D7, R-A3)', async (text, seconds) => {
    const label = newLabel();
    expect(await push(one(variableId), `?operationId=${label}&operationTimeoutSec=${text}`)).toMatchObject({
      status: 200,
    });
    const { rows } = await api.database.query<{ seconds: number }>(
      `select round(extract(epoch from deadline - accepted_date))::int as seconds from push_operation where label = $1`,
      [label],
    );
    expect(rows).toEqual([{ seconds }]);
  });
});

describe('push: the query strings of existing clients', () => {
  it.each([
    ['?op1', undefined],
    ['?operationId=op1?operationTimeoutSec=30', 'op1'],
    ['?OPERATIONID=op2&operationtimeoutsec=abc', 'op2'],
    ['?&&=&operationId=op3&', 'op3'],
    ['?operationId=%E0%A4%A', undefined],
    ['?operationId=', undefined],
  ])(
    'a push with the query string %s is accepted; its operationId is used if it can be parsed (R-A3)',
    async (query, label) => {
      const answer = await push(one(variableId), query);
      expect(answer.status).toBe(200);
      if (label !== undefined) expect(answer.body.operationId).toBe(label);
    },
  );
});

describe('push: access to an operation', () => {
  it('is open to the user who pushed and to the managers of the account; other users get 404 (R-D7)', async () => {
    const { siteId, variableId: granted } = await createStructure(api.manager);
    const sites = [siteId];
    const [pusher, other] = [await api.signIn('pia', 'USER', { sites }), await api.signIn('otto', 'USER', { sites })];
    const label = newLabel();
    await push(one(granted), `?operationId=${label}`, pusher);
    expect((await find(label, pusher)).status).toBe(200);
    expect((await find(label, api.manager)).status).toBe(200);
    for (const stranger of [other, api.stranger]) {
      expect(await find(label, stranger)).toMatchObject({ status: 404, body: { code: 'not_found' } });
      for (const path of ['?all=true', '/rejected', '/rejected?all=true']) {
        expect((await stranger.get(`/api/operations/${label}${path}`)).status).toBe(404);
      }
      expect((await stranger.post(`/api/operations/${label}/replay`, {})).status).toBe(404);
    }
  });

  it('requires the scope push-data (R-B6)', async () => {
    const reader = await api.signIn('rita', 'MANAGER', { scopes: ['datahub-api'] });
    const refusal = { status: 403, body: { code: 'insufficient_scope' } };
    expect(await find('any', reader)).toMatchObject(refusal);
    expect(await reader.get('/api/operations/any/rejected')).toMatchObject(refusal);
    expect(await reader.post('/api/operations/any/replay', {})).toMatchObject(refusal);
  });
});

describe('push: rejected elements', () => {
  const meant = (mappingConfig: string) => ({ mappingConfig, note: '\u0000', data: [{ date: DATE, value: 7 }] });
  const rejectedOf = async (label: string, query = '') =>
    (await api.manager.get<{ index: number; element: unknown }[]>(`/api/operations/${label}/rejected${query}`)).body;
  const replay = (label: string, query = '', client = api.manager) =>
    client.post<{ accepted: { elements: number }; rejected: unknown[] }>(`/api/operations/${label}/replay${query}`, {});

  it('are kept as sent, with the reason (R-D8)', async () => {
    const label = newLabel();
    await push([...one(variableId), meant('later-1')], `?operationId=${label}`);
    expect(await rejectedOf(label)).toEqual([
      {
        index: 1,
        code: 'target_not_found',
        message: 'no variable has mappingConfig "later-1"',
        element: meant('later-1'),
      },
    ]);
  });

  it('are accepted by a replay once their targets exist; elements without a target stay rejected (R-D8)', async () => {
    const label = newLabel();
    await push([meant('later-2'), meant('never')], `?operationId=${label}`);
    const before = (await find(label)).body;
    expect((await replay(label)).body).toMatchObject({ accepted: { elements: 0 }, rejected: [{}, {}] });
    expect((await find(label)).body).toEqual(before);
    const id = await createVariable(api.manager, sourceId, { mappingConfig: 'later-2' });
    expect((await replay(label)).body).toMatchObject({
      accepted: { elements: 1, readings: 1 },
      rejected: [{ index: 1, code: 'target_not_found' }],
    });
    await api.ingest();
    expect((await api.manager.get(`/data?variableId=${id}`)).body).toMatchObject([{ rawValue: 7 }]);
    expect((await find(label)).body).toMatchObject({ state: 'Completed', isReplay: true });
    expect(await rejectedOf(label)).toMatchObject([{ index: 1, element: { mappingConfig: 'never' } }]);
    expect((await replay(label)).body).toMatchObject({ accepted: { elements: 0 }, rejected: [{}] });
    expect(await findAll(label)).toHaveLength(2);
  });

  it('when a push is replayed several times concurrently, only one replay accepts an element that the push had rejected (R-D8, R-K3)', async () => {
    const label = newLabel();
    await push([meant('later-3')], `?operationId=${label}`);
    await createVariable(api.manager, sourceId, { mappingConfig: 'later-3' });
    const { id } = (await find(label)).body;
    const blocker = await api.database.connect();
    await blocker.query(BEGIN_HOLDING);
    await blocker.query('select from push_rejection where operation_id = $1 for update', [id]);
    const replays = Promise.all(Array.from({ length: 6 }, () => replay(label)));
    await eventually('two replays that take the same element', async () => {
      const { rowCount } = await api.database.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and query like '%delete from push_rejection%'`,
      );
      return (rowCount ?? 0) > 1;
    });
    await blocker.query('commit');
    blocker.release();
    const answers = await replays;
    const accepted = answers.filter(({ status, body }) => status === 200 && body.accepted.elements === 1);
    expect(accepted).toHaveLength(1);
    expect(await findAll(label)).toHaveLength(2);
  });

  it('all=true lists and replays the rejected elements of all operations with the same label (R-D8)', async () => {
    const label = newLabel();
    for (const name of ['later-4', 'later-5']) await push([meant(name)], `?operationId=${label}`);
    expect(await rejectedOf(label)).toHaveLength(1);
    expect(await rejectedOf(label, '?all=true')).toMatchObject([
      { element: { mappingConfig: 'later-4' } },
      { element: { mappingConfig: 'later-5' } },
    ]);
    for (const name of ['later-4', 'later-5']) await createVariable(api.manager, sourceId, { mappingConfig: name });
    expect((await replay(label, '?all=true')).body).toMatchObject({ accepted: { elements: 2 }, rejected: [] });
    expect(await rejectedOf(label, '?all=true')).toEqual([]);
  });

  it('are replayed only with the permission to push (R-B8)', async () => {
    const label = newLabel();
    await push([meant('later-6')], `?operationId=${label}`);
    const viewer = await api.signIn('vera', 'MANAGER', { mayPush: false });
    expect(await replay(label, '', viewer)).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
  });

  it('are deleted together with their operation once the operation has ended and the retention period is over (R-D8)', async () => {
    await api.ingest();
    const [old, young, waiting] = [newLabel(), newLabel(), newLabel()];
    for (const label of [old, young]) await push([meant('never')], `?operationId=${label}`);
    await push(one(variableId), `?operationId=${waiting}`);
    await api.database.query(
      `update push_operation set accepted_date = accepted_date - interval '1 day' * case when label = $2 then 29 else 31 end
       where label = any($1)`,
      [[old, young, waiting], young],
    );
    const { id } = (await find(old)).body;
    expect(await purgeOldOperations(api.database, 30)).toBe(1);
    expect((await find(old)).status).toBe(404);
    const { rowCount } = await api.database.query('select from push_rejection where operation_id = $1', [id]);
    expect(rowCount).toBe(0);
    expect(await rejectedOf(young)).toHaveLength(1);
    expect((await find(waiting)).body.state).toBe('Queued');
  });
});
