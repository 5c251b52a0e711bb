/** The history of a webhook, and replay (R-I5). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withTransaction } from '../../../src/platform/database/database.ts';
import { listHistory, planPage } from '../../../src/webhooks/history/find-history.ts';
import { eventually } from '../../support/eventually.ts';
import { createWebhook } from '../../support/fixtures/webhooks.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

interface Entry {
  readonly id: string;
  readonly eventId: string;
  readonly attempt: number;
  readonly state: string;
}

let api: TestApi;
let webhookId: string;
let otherId: string;

beforeAll(async () => {
  api = await startTestApi();
  otherId = (await createWebhook(api.manager)).id;
});
afterAll(() => api.close());

beforeEach(async () => {
  webhookId = (await createWebhook(api.manager)).id;
});

const pathOf = (id: string) => `/account/webhooks/${id}/history`;
const read = async (query = '') => (await api.manager.get<readonly Entry[]>(pathOf(webhookId) + query)).body;
const replay = (historyId: string, id = webhookId) =>
  api.manager.post<Entry>(`${pathOf(id)}/${historyId}/replay`, undefined);

async function addEvent(): Promise<string> {
  const { rows } = await api.database.query<{ id: string }>(
    `insert into webhook_event (webhook_id, account_id, type, date, data)
     values ($1, $2, 'SiteCreated', '2026-03-01T12:00:00Z', '{"id": 3}') returning id`,
    [webhookId, api.accountId],
  );
  return rows[0]?.id ?? '';
}

async function addAttempt(eventId: string, columns: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const all = { event_id: eventId, webhook_id: webhookId, state: 'Succeeded', ...columns };
  const { rows } = await api.database.query<{ id: string }>(
    `insert into webhook_attempt (${Object.keys(all).join(', ')})
     values (${Object.keys(all).map((_name, index) => `$${index + 1}`)}) returning id::text`,
    Object.values(all),
  );
  return rows[0]?.id ?? '';
}

describe('webhook history: GET /account/webhooks/{id}/history', () => {
  test('lists every attempt with its request and outcome, newest first (R-I5)', async () => {
    const eventId = await addEvent();
    const request = {
      method: 'POST',
      url: 'https://receiver.example/',
      headers: { 'webhook-id': eventId },
      body: '{}',
    };
    const response = { status: 500, headers: { server: 'x' }, body: 'no' };
    const failed = {
      ...{ state: 'Failed', date: '2026-03-01T12:00:01Z', duration_ms: 12, request, response },
      ...{ error: 'the receiver answered 500', next_attempt_date: '2026-03-01T12:00:06Z' },
    };
    const first = await addAttempt(eventId, failed);
    const second = await addAttempt(eventId, { state: 'Pending', attempt: 2, due_date: '2026-03-01T12:00:06Z' });
    const common = { webhookId, eventId, eventType: 'SiteCreated', isReplay: false };
    expect(await read()).toEqual([
      {
        ...{ ...common, id: second, attempt: 2, state: 'Pending' },
        ...{ date: expect.any(String), nextAttemptDate: '2026-03-01T12:00:06Z' },
      },
      {
        ...{ ...common, id: first, attempt: 1, state: 'Failed', date: '2026-03-01T12:00:01Z', durationMs: 12 },
        ...{ request, response, error: 'the receiver answered 500', nextAttemptDate: '2026-03-01T12:00:06Z' },
      },
    ]);
  });

  test('returns pages of 100 entries by default, and the total number of entries on request (R-I5, R-A7)', async () => {
    const eventId = await addEvent();
    const ids: string[] = [];
    for (let count = 0; count < 105; count++) ids.unshift(await addAttempt(eventId));
    expect((await read()).map(({ id }) => id)).toEqual(ids.slice(0, 100));
    expect((await read('?Paging.PageNumber=1')).map(({ id }) => id)).toEqual(ids.slice(100));
    expect((await read('?paging.pageNumber=2&PAGING.ItemsPerPage=10')).map(({ id }) => id)).toEqual(ids.slice(20, 30));
    expect(await read('?Paging.PageNumber=2147483647&Paging.ItemsPerPage=500')).toEqual([]);
    const { headers } = await api.manager.get(`${pathOf(webhookId)}?Paging.ItemsPerPage=1`, {
      'x-total-count': 'true',
    });
    expect(headers.get('x-total-count')).toBe('105');
  });

  test.each(['Paging.ItemsPerPage=0', 'Paging.ItemsPerPage=501', 'Paging.PageNumber=-1', 'state=Done'])(
    'answers 400 to %s (R-A5)',
    async (query) => {
      const { status, body } = await api.manager.get(`${pathOf(webhookId)}?${query}`);
      expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
    },
  );

  test('filters by state (R-I5)', async () => {
    const eventId = await addEvent();
    for (const state of ['Succeeded', 'Failed', 'Pending']) await addAttempt(eventId, { state });
    const states = async (query: string) => (await read(query)).map(({ state }) => state);
    expect(await states('?state=failed')).toEqual(['Failed']);
    expect(await states('?State=Pending,Failed')).toEqual(['Pending', 'Failed']);
    expect(await states('?state=Succeeded&state=Pending')).toEqual(['Pending', 'Succeeded']);
    const { headers } = await api.manager.get(`${pathOf(webhookId)}?state=Failed`, { 'x-total-count': 'true' });
    expect(headers.get('x-total-count')).toBe('1');
  });

  test('answers 403 to a USER, and 404 to a MANAGER of another account and for an unknown webhook (R-I5, R-A5)', async () => {
    const user = await api.signIn(`una-${webhookId}`, 'USER');
    expect((await user.get(pathOf(webhookId))).status).toBe(403);
    expect((await api.stranger.get(pathOf(webhookId))).status).toBe(404);
    expect((await api.manager.get(pathOf('nothing'))).status).toBe(404);
  });
});

describe('webhook replay: POST /account/webhooks/{id}/history/{historyId}/replay', () => {
  test.each(['Succeeded', 'Failed'])(
    'schedules one more attempt of a message, with the same `eventId`, when the last attempt is %s (R-I5)',
    async (state) => {
      const eventId = await addEvent();
      await addAttempt(eventId, { state: 'Failed' });
      const historyId = await addAttempt(eventId, { state, attempt: 2 });
      const { status, body } = await replay(historyId);
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { webhookId, eventId, attempt: 3, isReplay: true, state: 'Pending', nextAttemptDate: expect.any(String) },
      });
      expect(await read('?state=Pending')).toEqual([body]);
    },
  );

  test('writes an audit entry (R-B14)', async () => {
    const eventId = await addEvent();
    const historyId = await addAttempt(eventId);
    await replay(historyId);
    const { body } = await api.manager.get(`/account/audit?targetId=${webhookId}&action=WebhookReplayed`);
    expect(body).toMatchObject([{ action: 'WebhookReplayed', details: { historyId, eventId } }]);
  });

  test('answers 409 while an attempt of the message is Pending; one of three concurrent requests gets 200 (R-I5)', async () => {
    const historyId = await addAttempt(await addEvent(), { state: 'Failed' });
    const { asked } = await withTransaction(
      api.database,
      async (holder) => {
        // The lock keeps each request from storing its attempt until all three requests have begun.
        await holder.query('lock table webhook_attempt in share mode');
        const begun = [replay(historyId), replay(historyId), replay(historyId)];
        await eventually('three waiting requests', async () => {
          const { rowCount } = await api.database.query(
            `select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`,
          );
          return rowCount === 3;
        });
        return { asked: begun };
      },
      { idleTimeoutMs: 0 },
    );
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    expect((await read()).map(({ attempt }) => attempt)).toEqual([2, 1]);
  });

  test('answers 409 for a disabled webhook and for dropped messages (R-I5)', async () => {
    const gap = await addAttempt(await addEvent(), { attempt: 0, state: 'Failed' });
    expect((await replay(gap)).status).toBe(409);
    const historyId = await addAttempt(await addEvent());
    await api.manager.put(`/account/webhooks/${webhookId}`, { isEnabled: false });
    expect((await replay(historyId)).status).toBe(409);
  });

  test('answers 404 for an unknown entry and for an entry of another webhook or account, and 403 to a USER (R-A5)', async () => {
    const historyId = await addAttempt(await addEvent());
    expect((await replay(historyId, otherId)).status).toBe(404);
    expect((await api.stranger.post(`${pathOf(webhookId)}/${historyId}/replay`, undefined)).status).toBe(404);
    for (const id of ['0', '9223372036854775808', '99999999999999999999', 'x', '-1', '1.0']) {
      const message = `the history of the webhook has no entry ${id}`;
      expect(await replay(id)).toMatchObject({ status: 404, body: { message } });
    }
    const user = await api.signIn(`ulf-${webhookId}`, 'USER');
    expect((await user.post(`${pathOf(webhookId)}/${historyId}/replay`, undefined)).status).toBe(403);
  });
});

describe('webhook history: a long history (R-I5)', () => {
  beforeAll(async () => {
    webhookId = (await createWebhook(api.manager)).id;
    const eventId = await addEvent();
    await api.database.query(
      `insert into webhook_attempt (event_id, webhook_id, state)
       select $1, id, case when n % 1000 = 0 then 'Failed' else 'Succeeded' end
       from webhook, generate_series(1, 100000) n where id in ($2, $3)`,
      [eventId, webhookId, otherId],
    );
    await api.database.query('vacuum (analyze) webhook_attempt, webhook_event');
  }, 60_000);

  async function planOf(states: Parameters<typeof planPage>[0]): Promise<string> {
    const { statement, state } = planPage(states);
    const { rows } = await api.database.query<{ 'QUERY PLAN': string }>(`explain (analyze, buffers) ${statement}`, [
      otherId,
      state,
      50,
      0,
    ]);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  }

  test.each([
    ['all attempts', [], 'webhook_attempt_webhook_id_idx'],
    ['failed attempts', ['Failed'], 'webhook_attempt_failed_idx'],
    ['succeeded or failed attempts', ['Succeeded', 'Failed'], 'webhook_attempt_webhook_id_idx'],
    ['waiting attempts', ['Pending'], 'webhook_attempt_due_idx'],
  ] as const)('a page of %s is read through an index', async (_what, states, index) => {
    const plan = await planOf(states);
    expect(plan).toContain(index);
    expect(plan).not.toContain('Seq Scan on webhook_attempt');
    const pages = [...plan.matchAll(/shared hit=(\d+)(?: read=(\d+))?/g)].map(
      ([, hit, missed = 0]) => Number(hit) + Number(missed),
    );
    expect(Math.max(...pages)).toBeLessThan(300);
    const page = await listHistory(api.database, otherId, { states, limit: 50, offset: 0 });
    expect(page).toHaveLength((states as readonly string[]).includes('Pending') ? 0 : 50);
  });
});
