/**
 * Trial sends of webhooks (R-I7): a client requests a trial send over HTTP, the deliverer executes it, and the client
 * reads its result again and again until the trial send has ended.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook as Verifier } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withTransaction } from '../../../src/platform/database/database.ts';
import { startDelivererRole } from '../../../src/roles/deliverer-role.ts';
import type { Role } from '../../../src/roles/parts.ts';
import { SAMPLE_DATA } from '../../../src/webhooks/trial-sends/sample-data.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { type Receiver, startReceiver } from '../../support/doubles/receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { createWebhook, secretOf } from '../../support/fixtures/webhooks.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

interface Shown {
  readonly id: string;
  readonly state: string;
  readonly request: { readonly headers: Readonly<Record<string, string>>; readonly body: string } | null;
  readonly response?: { readonly status: number; readonly body: string };
  readonly error?: string;
}

const PATH = '/account/webhooks/test';
const LOCAL = {
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
  WEBHOOK_TIMEOUT_MS: '2000',
  WEBHOOK_TESTS_PER_MINUTE: '0',
  SWEEP_INTERVAL_MS: '300',
};
const SECRET = secretOf(24);

let api: TestApi;
let deliverer: Role | undefined;
let receiver: Receiver;

beforeAll(async () => {
  api = await startTestApi(LOCAL);
}, 60_000);
afterAll(() => api.close());

beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await deliverer?.stop();
  deliverer = undefined;
  await receiver.close();
});

const fields = (more: object = {}) => ({
  url: `${receiver.url}/try`,
  eventType: 'SiteCreated',
  secret: SECRET,
  ...more,
});

async function deliver(): Promise<void> {
  deliverer = await startDelivererRole(api.parts);
}

async function start(body: object, client: TestClient = api.manager): Promise<string> {
  const { status, body: made } = await client.post<{ id: string }>(PATH, body);
  if (status !== 200) throw new Error(JSON.stringify(made));
  return made.id;
}

const readTrial = async (id: string, client: TestClient = api.manager) =>
  (await client.get<Shown>(`${PATH}/${id}`)).body;

const ended = (id: string): Promise<Shown> =>
  eventually(`the end of the test ${id}`, async () => {
    const shown = await readTrial(id);
    return shown.state !== 'Pending' && shown;
  });

describe('webhook trial send: POST /account/webhooks/test', () => {
  test('answers immediately with the id and the Location of the result; the result is then still Pending (R-I7)', async () => {
    const { status, body, headers } = await api.manager.post<{ id: string }>(PATH, fields());
    expect({ status, body }).toEqual({ status: 200, body: { id: expect.any(String) } });
    expect(headers.get('location')).toBe(`${PATH}/${body.id}`);
    expect(await readTrial(body.id)).toEqual({ id: body.id, state: 'Pending', request: null });
    expect(receiver.connections()).toBe(0);
    await deliver();
    expect((await ended(body.id)).state).toBe('Succeeded');
  });

  test('sends a request with the given method, headers and data, signed with the given secret, and shows the request in the result (R-I3, R-I7)', async () => {
    await deliver();
    const id = await start(fields({ httpMethod: 'PUT', headers: { 'X-Mine': '1' }, data: { siteId: 'any' } }));
    const shown = await ended(id);
    const [message] = receiver.messages;
    expect(message).toMatchObject({ method: 'PUT', path: '/try', headers: { 'webhook-id': id, 'x-mine': '1' } });
    const verified = new Verifier(SECRET).verify(message?.body ?? '', message?.headers as Record<string, string>);
    expect(verified).toEqual({
      type: 'SiteCreated',
      timestamp: expect.any(String),
      accountId: api.accountId,
      data: { siteId: 'any' },
    });
    expect(shown).toMatchObject({
      state: 'Succeeded',
      request: { body: message?.body },
      response: { status: 200, body: 'ok' },
    });
    expect(shown.request?.headers['webhook-signature']).toBe(message?.headers['webhook-signature']);
    expect(shown.error).toBeUndefined();
  });

  test.each(Object.keys(SAMPLE_DATA))(
    'sends sample data of the event type %s when the request gives no data (R-I7)',
    async (eventType) => {
      await deliver();
      await ended(await start(fields({ eventType, bodyTemplate: '{"got": {{data}}}' })));
      expect(JSON.parse(receiver.messages[0]?.body ?? '')).toEqual({ got: SAMPLE_DATA[eventType as 'SiteCreated'] });
    },
  );

  test('reports why the send failed (R-I7)', async () => {
    await deliver();
    receiver.answerWith((_request, response) => response.writeHead(302, { location: '/' }).end('see there'));
    expect(await ended(await start(fields()))).toMatchObject({
      state: 'Failed',
      error: 'the receiver answered 302: redirects are not followed',
      response: { status: 302, body: 'see there' },
    });
    receiver.answerWith(() => {});
    const silent = await ended(await start(fields()));
    expect(silent).toMatchObject({ state: 'Failed', error: 'the receiver did not respond within 2 s' });
    expect(silent).not.toHaveProperty('response');
  });

  test('generates a secret when none is given, and returns it once (R-I7)', async () => {
    await deliver();
    const { body } = await api.manager.post<{ id: string; secret: string }>(PATH, fields({ secret: undefined }));
    expect(JSON.stringify(await ended(body.id))).not.toContain(body.secret);
    const [message] = receiver.messages;
    expect(() =>
      new Verifier(body.secret).verify(message?.body ?? '', message?.headers as Record<string, string>),
    ).not.toThrow();
    const { rows } = await api.database.query('select webhook from webhook_test where id = $1', [body.id]);
    expect(JSON.stringify(rows)).not.toContain('whsec_');
  });

  test("signs with the stored secret only if the request has the webhook's stored URL (R-I7, rulings part C)", async () => {
    await deliver();
    const { secret: _secret, ...webhook } = await createWebhook(api.manager, fields({ name: 'mine' }));
    const isSigned = async (body: object, client = api.manager): Promise<boolean> => {
      const { body: made } = await client.post<{ id: string; secret?: string }>(PATH, body);
      await eventually('the message', async () =>
        receiver.messages.some(({ headers }) => headers['webhook-id'] === made.id),
      );
      const message = receiver.messages.find(({ headers }) => headers['webhook-id'] === made.id);
      try {
        new Verifier(SECRET).verify(message?.body ?? '', message?.headers as Record<string, string>);
        return made.secret === undefined;
      } catch {
        return false;
      }
    };
    expect(await isSigned(webhook)).toBe(true);
    expect(await isSigned({ ...webhook, data: { forged: true }, url: `${receiver.url}/elsewhere` })).toBe(false);
    expect(await isSigned(webhook, api.stranger)).toBe(false);
    expect(await isSigned({ ...webhook, id: 'unknown' })).toBe(false);
  });

  test('reports all invalid members in one answer; refuses a malformed template and an internal address (R-A5, R-I7)', async () => {
    const wrong = { url: 'ftp://x', eventType: 'Nothing', httpMethod: 'GET', headers: { Host: 'x' }, data: '\u0000' };
    const { status, body } = await api.manager.post<{ details: { path: string }[] }>(PATH, wrong);
    expect(status).toBe(400);
    const paths = body.details.map(({ path }) => path).toSorted();
    expect(paths).toEqual(['$.data', '$.eventType', '$.headers.Host', '$.httpMethod', '$.url']);
    const template = await api.manager.post<{ details: { path: string; message: string }[] }>(
      PATH,
      fields({ bodyTemplate: '{"a": {{data.x}' }),
    );
    expect(template).toMatchObject({ status: 400, body: { details: [{ path: '$.bodyTemplate' }] } });
    const inside = await api.manager.post(PATH, fields({ url: 'https://10.0.0.1/' }));
    expect(inside.status).toBe(400);
  });

  test('is allowed for managers only and writes an audit entry (R-I7, R-B14)', async () => {
    const user = await api.signIn('una', 'USER');
    expect((await user.post(PATH, fields())).status).toBe(403);
    const id = await start(fields({ url: `${receiver.url}/try?key=not-to-be-stored` }));
    const { body } = await api.manager.get(`/account/audit?targetId=${id}`);
    expect(body).toMatchObject([
      { action: 'WebhookTested', details: { eventType: 'SiteCreated', host: `127.0.0.1:${receiver.port}` } },
    ]);
    expect(JSON.stringify(body)).not.toContain('not-to-be-stored');
  });
});

describe('webhook trial send: GET /account/webhooks/test/{id}', () => {
  test('answers 404 to a user of another account, and to everyone once the trial send is 24 h old (R-I7, R-A5)', async () => {
    const id = await start(fields());
    const user = await api.signIn('ulf', 'USER');
    expect((await user.get(`${PATH}/${id}`)).status).toBe(403);
    expect((await api.stranger.get(`${PATH}/${id}`)).status).toBe(404);
    const message = 'test message nothing does not exist or is older than 24 hours';
    expect(await api.manager.get(`${PATH}/nothing`)).toMatchObject({ status: 404, body: { message } });
    expect((await api.manager.get(`${PATH}/${id.toUpperCase()}`)).status).toBe(200);
    await api.database.query(`update webhook_test set created_date = now() - interval '24 hours' where id = $1`, [id]);
    expect((await api.manager.get(`${PATH}/${id}`)).status).toBe(404);
    await deliver();
    await ended(await start(fields()));
    expect(receiver.messages.map(({ headers }) => headers['webhook-id'])).not.toContain(id);
  });
});

describe('webhook trial send: a trial send survives the end of its process (R-I7, R-K3)', () => {
  test('another process claims the trial send of a crashed process when the lease ends, and not before', async () => {
    const id = await start(fields());
    await api.database.query(`update webhook_test set claimed_until = now() + interval '1 hour' where id = $1`, [id]);
    await deliver();
    const later = await start(fields());
    await ended(later);
    const sent = () => receiver.messages.map(({ headers }) => headers['webhook-id']);
    expect(sent()).toEqual([later]);
    await api.database.query(`update webhook_test set claimed_until = now() where id = $1`, [id]);
    expect((await ended(id)).state).toBe('Succeeded');
    expect(sent()).toEqual([later, id]);
  });

  test('when a process stops before the response arrives, the next process sends the message again', async () => {
    const id = await start(fields());
    receiver.answerWith(() => {});
    const config = { ...api.parts.config, SHUTDOWN_TIMEOUT_MS: 400, WEBHOOK_TIMEOUT_MS: 60_000 };
    const stopped = await startDelivererRole({ ...api.parts, config });
    await eventually('the message', async () => receiver.messages.length === 1);
    await stopped.stop();
    const { rows } = await api.database.query('select state, claimed_until from webhook_test where id = $1', [id]);
    expect(rows).toEqual([{ state: 'Pending', claimed_until: null }]);
    receiver.answerWith((_request, response) => response.end());
    await deliver();
    expect((await ended(id)).state).toBe('Succeeded');
  });

  test('when a stopping process claims a trial send after SHUTDOWN_TIMEOUT_MS has passed, the process releases the trial send and sends no message', async () => {
    const id = await start(fields());
    const config = { ...api.parts.config, SHUTDOWN_TIMEOUT_MS: 0, WEBHOOK_TIMEOUT_MS: 60_000 };
    const { stopped } = await withTransaction(
      api.database,
      async (transaction) => {
        await transaction.query('select from webhook_test where id = $1 for update', [id]);
        const stopping = await startDelivererRole({ ...api.parts, config });
        await eventually('the claim that waits for the row', async () => {
          const { rowCount } = await api.database.query(
            `select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`,
          );
          return rowCount === 1;
        });
        const ending = stopping.stop();
        await pause(100);
        return { stopped: ending };
      },
      { idleTimeoutMs: 0 },
    );
    await stopped;
    const { rows } = await api.database.query('select state, claimed_until from webhook_test where id = $1', [id]);
    expect(rows).toEqual([{ state: 'Pending', claimed_until: null }]);
    expect(receiver.connections()).toBe(0);
    await deliver();
    expect((await ended(id)).state).toBe('Succeeded');
  });
});

test('webhook trial send: the rate limit is shared by all users of an account (R-I7, R-B15)', async () => {
  const limited = await startTestApi({ ...LOCAL, WEBHOOK_TESTS_PER_MINUTE: '3' });
  try {
    const other = await limited.signIn('mia', 'MANAGER');
    expect((await limited.manager.post(PATH, { url: 'nothing' })).status).toBe(400);
    const clients = [limited.manager, other, limited.manager, other, limited.stranger];
    const answers = [];
    for (const client of clients) answers.push(await client.post(PATH, fields()));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 200]);
    expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(0);
    const message = expect.stringMatching(/^the account has sent too many test messages; retry after \d+ s$/);
    expect(answers[3]?.body).toMatchObject({ message });
  } finally {
    await limited.close();
  }
});
