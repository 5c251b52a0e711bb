import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findReceiver } from '../../../src/webhooks/delivery/claim-attempts.ts';
import { purgeHistory } from '../../../src/webhooks/delivery/purge-history.ts';
import { openSecretVault } from '../../../src/webhooks/secret-vault.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { createStructure } from '../../support/fixtures/structure.ts';
import { createWebhook, type SeenWebhook, secretOf, WEBHOOK } from '../../support/fixtures/webhooks.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

type Refusal = { readonly code: string; readonly details?: readonly { readonly path: string; message: string }[] };

let api: TestApi;
let own: { siteId: number; sourceId: number; variableId: number };
let foreign: { siteId: number; sourceId: number; variableId: number };
beforeAll(async () => {
  api = await startTestApi();
  own = await createStructure(api.manager);
  foreign = await createStructure(api.stranger);
});
afterAll(() => api.close());

const path = ({ id }: { readonly id: string }) => `/account/webhooks/${id}`;
const read = async (webhook: { readonly id: string }, client: TestClient = api.manager) =>
  (await client.get<SeenWebhook>(path(webhook))).body;
const put = (webhook: { readonly id: string }, members: unknown) =>
  api.manager.send<SeenWebhook>('PUT', path(webhook), members);
const secretsOf = async ({ id }: { readonly id: string }) =>
  (await findReceiver(api.database, openSecretVault([]), id))?.target.secrets;
const pathsOf = (body: unknown) => (body as Refusal).details?.map((detail) => detail.path);

/** Sets columns of a webhook in the database. */
const setByService = (id: string, columns: string) =>
  api.database.query(`update webhook set ${columns} where id = $1`, [id]);

const WHOLE = () => ({
  ...WEBHOOK,
  isEnabled: false,
  httpMethod: 'PUT',
  headers: { Authorization: 'Bearer of-the-receiver', 'X-Place': 'a b' },
  filter: { siteIds: [own.siteId], sourceIds: [own.sourceId], variableIds: [own.variableId] },
  bodyTemplate: '{"text": "points were written"}',
});

describe('webhooks: POST /account/webhooks', () => {
  it('creates a webhook with the given fields and answers 200 (R-I1, R-A6)', async () => {
    const { status, body } = await api.manager.post('/account/webhooks', { ...WHOLE(), secret: secretOf(24) });
    const shown = { id: expect.any(String), createdDate: expect.any(String), modifiedDate: expect.any(String) };
    expect({ status, body }).toEqual({ status: 200, body: { ...WHOLE(), disabledReason: null, ...shown } });
    expect(await read(body as SeenWebhook)).toEqual(body);
  });

  it('requires `name`, `url` and `eventType`; the other members get defaults when absent or null (R-I1)', async () => {
    const { status, body } = await api.manager.post('/account/webhooks', {});
    expect([status, pathsOf(body)]).toEqual([400, ['$.name', '$.url', '$.eventType']]);
    const defaults = { isEnabled: true, httpMethod: 'POST', headers: {}, filter: {}, bodyTemplate: null };
    const nulls = Object.fromEntries(Object.keys(defaults).map((name) => [name, null]));
    for (const given of [{}, nulls, { filter: { siteIds: null } }]) {
      expect(await createWebhook(api.manager, given)).toMatchObject({ ...WEBHOOK, ...defaults });
    }
  });

  it('ignores the letter case of member names and enum values, and ignores unknown and read-only members (R-A3)', async () => {
    const members = { Name: 'n', URL: WEBHOOK.url, EVENTTYPE: 'sitecreated', IsEnabled: 'False', httpMETHOD: 'put' };
    const others = { id: 'x', createdDate: 'never', disabledReason: 'none', lastExecution: 5, colour: 'red' };
    const filter = { SiteIds: [String(own.siteId)] };
    const { body } = await api.manager.post<SeenWebhook>('/account/webhooks', { ...members, ...others, filter });
    const read = { name: 'n', eventType: 'SiteCreated', isEnabled: false, httpMethod: 'PUT' };
    expect(body).toMatchObject({ ...read, filter: { siteIds: [own.siteId] }, disabledReason: null });
    expect(body).not.toHaveProperty('colour');
    const { body: shown } = await api.manager.get(`${path(body)}?displayLevel=Verbose`);
    expect(shown).toMatchObject({ id: body.id, createdDate: expect.stringMatching(/^20.*Z$/), lastExecution: null });
  });

  it('reports the JSON path of every problem in an invalid body, and creates no webhook (R-A5, R-I1)', async () => {
    const headers = { Host: 'h', 'webhook-id': '1', 'X-A': 'a\nb', 'x-a': 'b', 'a b': 'c', TE: 't', 'X-N': 5 };
    const wrong = {
      ...{ name: '', url: 'receiver.example', eventType: 'PointsWritten', isEnabled: 'perhaps', httpMethod: 'GET' },
      ...{ headers, filter: { siteIds: [], sourceIds: ['a'] }, bodyTemplate: 5, secret: 'whsec_short' },
    };
    const before = (await api.manager.get<unknown[]>('/account/webhooks')).body.length;
    const { status, body } = await api.manager.post('/account/webhooks', wrong);
    expect(status).toBe(400);
    const inHeaders = Object.keys(headers).map((name) => `$.headers.${name}`);
    const members = ['name', 'url', 'eventType', 'isEnabled', 'httpMethod', 'bodyTemplate', 'secret'];
    const all = [...members.map((name) => `$.${name}`), ...inHeaders, '$.filter.siteIds', '$.filter.sourceIds[0]'];
    expect(pathsOf(body)?.toSorted()).toEqual(all.toSorted());
    expect((await api.manager.get<unknown[]>('/account/webhooks')).body.length).toBe(before);
  });

  it.each([
    ['33 headers', { headers: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`X-${i}`, 'v'])) }, '$.headers'],
    ['headers of more than 8 KiB', { headers: { 'X-A': 'v'.repeat(8190) } }, '$.headers'],
    ['a name of 201 characters', { name: 'n'.repeat(201) }, '$.name'],
    ['a name that cannot be stored', { name: 'a\0' }, '$.name'],
    ['a filter that is a list', { filter: [] }, '$.filter'],
    ['headers that are a list', { headers: [] }, '$.headers'],
  ])('refuses %s (R-I1)', async (_what, members, problemPath) => {
    const { status, body } = await api.manager.post('/account/webhooks', { ...WEBHOOK, ...members });
    expect([status, pathsOf(body)]).toEqual([400, [problemPath]]);
  });

  it.each([
    'http://receiver.example/',
    'https://user:password@receiver.example/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://169.254.169.254/latest/meta-data',
    'ftp://receiver.example/',
    'receiver',
  ])('refuses the URL %s (R-I4)', async (url) => {
    const { status, body } = await api.manager.post('/account/webhooks', { ...WEBHOOK, url });
    expect([status, pathsOf(body)]).toEqual([400, ['$.url']]);
  });

  it('reports template errors with their positions, together with filter errors (R-I1, R-A5)', async () => {
    const wrong = { bodyTemplate: '{"a": {{data.}}, "b": {{ }}}', filter: { siteIds: [foreign.siteId] } };
    const { status, body } = await api.manager.post<Refusal>('/account/webhooks', { ...WEBHOOK, ...wrong });
    expect([status, pathsOf(body)]).toEqual([400, ['$.bodyTemplate', '$.bodyTemplate', '$.filter.siteIds[0]']]);
    expect(body.details?.[0]?.message).toContain('line 1, column 7');
    expect(body.details?.[1]?.message).toContain('line 1, column 23');
    const text = { ...WEBHOOK, bodyTemplate: 'Now: {{type}}' };
    expect((await api.manager.post('/account/webhooks', text)).status).toBe(400);
    expect((await createWebhook(api.manager, { ...text, headers: { 'content-type': 'text/plain' } })).id).toBeTruthy();
  });

  it('is refused for a USER and allowed for an ADMIN (R-B8)', async () => {
    const user = await api.signIn('ulla', 'USER');
    const admin = await api.signIn('ada', 'ADMIN');
    expect((await user.post('/account/webhooks', WEBHOOK)).status).toBe(403);
    expect((await admin.post('/account/webhooks', WEBHOOK)).status).toBe(200);
  });

  it('accepts JSON bodies only (R-A4)', async () => {
    const send = (type: string) =>
      api.manager.send('POST', '/account/webhooks', WEBHOOK, { headers: { 'content-type': type } });
    expect((await send('application/vnd.tidemark+json')).status).toBe(200);
    expect((await send('text/plain')).status).toBe(415);
  });
});

describe('webhooks: secret', () => {
  it('a secret from the client is never returned (R-I1)', async () => {
    const secret = secretOf(64);
    const webhook = await createWebhook(api.manager, { secret });
    const answers = [
      webhook,
      (await put(webhook, { ...webhook, secret: secretOf(24, 9) })).body,
      (await api.manager.get(`${path(webhook)}?displayLevel=Verbose`)).body,
      (await api.manager.get('/account/webhooks?displayLevel=Verbose')).body,
      (await api.manager.get('/account/audit')).body,
    ];
    expect(JSON.stringify(answers)).not.toMatch(/whsec_(BwcH|CQkJ)|"secret":/);
  });

  it('a secret is generated when the client sends none, and is returned once (R-I1, R-I3)', async () => {
    const [first, second] = [await createWebhook(api.manager), await createWebhook(api.manager, { secret: null })];
    expect(first.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(first.secret).not.toBe(second.secret);
    expect(await secretsOf(first)).toEqual([first.secret]);
    expect(await read(first)).not.toHaveProperty('secret');
  });

  it.each([
    ['23 bytes', secretOf(23)],
    ['65 bytes', secretOf(65)],
    ['no prefix', secretOf(32).slice(6)],
    ['truncated base64', secretOf(32).slice(0, -1)],
    ['text that is not base64', `whsec_${'?'.repeat(32)}`],
  ])('a secret is refused when it has %s (R-I3)', async (_what, secret) => {
    const { status, body } = await api.manager.post('/account/webhooks', { ...WEBHOOK, secret });
    expect([status, pathsOf(body)]).toEqual([400, ['$.secret']]);
    expect(JSON.stringify(body)).not.toContain(secret);
  });

  it('a PUT that omits `secret` or sets it to null does not change the secret (R-I1)', async () => {
    const webhook = await createWebhook(api.manager, { secret: secretOf(24) });
    for (const members of [{ name: 'a' }, { name: 'b', secret: null }]) {
      const { status, body } = await put(webhook, { ...webhook, ...members });
      expect([status, body.name, await secretsOf(webhook)]).toEqual([200, members.name, [secretOf(24)]]);
    }
  });

  it('a replaced secret stays valid for 24 hours; writing the current secret again changes nothing (R-I3)', async () => {
    const [old, fresh] = [secretOf(24, 1), secretOf(24, 2)];
    const webhook = await createWebhook(api.manager, { secret: old });
    expect((await put(webhook, { secret: fresh })).status).toBe(200);
    expect(await secretsOf(webhook)).toEqual([fresh, old]);
    const { modifiedDate } = await read(webhook);
    expect((await put(webhook, { secret: fresh })).body.modifiedDate).toBe(modifiedDate);
    expect(await secretsOf(webhook)).toEqual([fresh, old]);
    const { rows } = await api.database.query(
      `select extract(epoch from former_secret_until - modified_date) / 3600 as hours from webhook where id = $1`,
      [webhook.id],
    );
    expect(Number(rows[0]?.hours)).toBeCloseTo(24, 2);
    await setByService(webhook.id, `former_secret_until = clock_timestamp()`);
    expect(await secretsOf(webhook)).toEqual([fresh]);
  });
});

describe('webhooks: GET /account/webhooks', () => {
  const named = (client: TestClient, query: string) =>
    client.get<SeenWebhook[]>(`/account/webhooks?${query}`, { 'x-total-count': 'true' });

  it('`displayLevel`, a number or a name, selects which fields of each webhook are returned (§4.4, R-I1, R-A3)', async () => {
    const webhook = await createWebhook(api.manager, { name: 'levels', eventType: 'UserLocked' });
    await setByService(
      webhook.id,
      `last_attempt_date = '2026-03-01T00:00:00.25Z', last_attempt_state = 'Failed', success_count = 3, failure_count = 2`,
    );
    const light = { id: webhook.id, name: 'levels', eventType: 'UserLocked', isEnabled: true };
    const { secret: _, ...normal } = webhook;
    const lastExecution = { state: 'Failed', date: '2026-03-01T00:00:00.25Z' };
    const verbose = { ...normal, lastExecution, successCount: 3, failureCount: 2 };
    for (const [level, expected] of [
      ['', normal],
      ['DisplayLevel=light', light],
      ['filter.displayLevel=NORMAL', normal],
      ['displaylevel=Verbose', verbose],
      ['displayLevel=0', light],
    ] as const) {
      expect((await named(api.manager, `EventType=UserLocked&${level}`)).body).toEqual([expected]);
      expect((await api.manager.get(`${path(webhook)}?${level}`)).body).toEqual(expected);
    }
    const { body } = await api.manager.get<object>(`${path(await createWebhook(api.manager))}?displayLevel=Verbose`);
    expect(body).toMatchObject({ lastExecution: null, successCount: 0, failureCount: 0 });
  });

  it('filters by event types; the total count and the pages include only the selected webhooks (§4.4, R-A3, R-A7)', async () => {
    const { siteId } = own;
    for (const name of ['b', 'a', 'c']) await createWebhook(api.manager, { name, eventType: 'SourceCreated' });
    await createWebhook(api.manager, { name: 'd', eventType: 'SourceDeleted', filter: { siteIds: [siteId] } });
    for (const [query, names, total] of [
      ['EventType=sourcecreated', ['a', 'b', 'c'], '3'],
      ['eventType[0]=SourceCreated&eventType[1]=SourceDeleted', ['a', 'b', 'c', 'd'], '4'],
      ['eventType=SourceCreated,SourceDeleted&Paging.ItemsPerPage=3&Paging.PageNumber=1', ['d'], '4'],
      ['eventType=SourceCreated&itemsPerPage=2', ['a', 'b'], '3'],
      ['eventType=SourceUpdated', [], '0'],
    ] as const) {
      const { body, headers } = await named(api.manager, query);
      expect([body.map(({ name }) => name), headers.get('x-total-count')]).toEqual([names, total]);
    }
  });

  it('reports every problem of the query (R-A5)', async () => {
    const { status, body } = await api.manager.get('/account/webhooks?displayLevel=Huge&EventType=a&itemsPerPage=0');
    expect([status, pathsOf(body)]).toEqual([400, ['query.displayLevel', 'query.eventType', 'query.itemsPerPage']]);
  });

  it('returns webhooks of the caller’s account only (R-A5)', async () => {
    const webhook = await createWebhook(api.stranger, { name: 'south', eventType: 'InvitationAccepted' });
    expect((await named(api.stranger, 'eventType=InvitationAccepted')).body).toMatchObject([{ id: webhook.id }]);
    const { body, headers } = await named(api.manager, 'eventType=InvitationAccepted');
    expect([body, headers.get('x-total-count')]).toEqual([[], '0']);
  });
});

describe('webhooks: PUT /account/webhooks/{id}', () => {
  it('keeps members that the body omits, clears `headers`, `bodyTemplate` and `filter` where they are null, and returns the webhook (§4.4, R-I1)', async () => {
    const webhook = await createWebhook(api.manager, WHOLE());
    const changed = await put(webhook, { Name: 'other', headers: null, bodyTemplate: null });
    const { secret: _, modifiedDate, ...rest } = webhook;
    const expected = { ...rest, name: 'other', headers: {}, bodyTemplate: null, modifiedDate: expect.any(String) };
    expect(changed).toMatchObject({ status: 200, body: expected });
    expect(changed.body.modifiedDate > modifiedDate).toBe(true);
    expect(await read(webhook)).toEqual(changed.body);
    expect((await put(webhook, { filter: null })).body.filter).toEqual({});
  });

  it('keeps modifiedDate when nothing changes (R-I1)', async () => {
    const webhook = await createWebhook(api.manager, WHOLE());
    for (const level of ['Light', 'Normal', 'Verbose']) {
      const { body } = await api.manager.get(`${path(webhook)}?displayLevel=${level}`);
      expect((await put(webhook, body)).body.modifiedDate).toBe(webhook.modifiedDate);
    }
  });

  it('resets the failure period when it enables a webhook that the service disabled (R-I3)', async () => {
    const webhook = await createWebhook(api.manager);
    const disabled = `is_enabled = false, disabled_reason = 'gone', disabled_date = now(), failing_since = now()`;
    await setByService(webhook.id, disabled);
    const shown = await read(webhook);
    expect(shown).toMatchObject({ isEnabled: false, disabledReason: 'gone' });
    expect((await put(webhook, { ...shown, name: 'x' })).body).toMatchObject({ disabledReason: 'gone' });
    expect((await put(webhook, { isEnabled: true })).body).toMatchObject({ isEnabled: true, disabledReason: null });
    const columns = 'disabled_reason, disabled_date, failing_since';
    const { rows } = await api.database.query(`select ${columns} from webhook where id = $1`, [webhook.id]);
    expect(rows).toEqual([{ disabled_reason: null, disabled_date: null, failing_since: null }]);
  });

  it('a new URL resets the failure period, but a new name does not (R-I3)', async () => {
    const webhook = await createWebhook(api.manager);
    const failingSince = async () =>
      (await api.database.query('select failing_since from webhook where id = $1', [webhook.id])).rows[0].failing_since;
    await setByService(webhook.id, 'failing_since = now()');
    await put(webhook, { ...webhook, name: 'renamed' });
    expect(await failingSince()).not.toBeNull();
    await put(webhook, { url: 'https://other.example/' });
    expect(await failingSince()).toBeNull();
  });

  it('reports all problems in one answer and changes nothing (R-A5)', async () => {
    const webhook = await createWebhook(api.manager);
    const { status, body } = await put(webhook, { name: null, url: 5, isEnabled: null, headers: { Host: 'x' } });
    expect([status, pathsOf(body)]).toEqual([400, ['$.name', '$.url', '$.isEnabled', '$.headers.Host']]);
    expect((await put(webhook, [])).status).toBe(400);
    expect(await read(webhook)).toMatchObject(WEBHOOK);
  });

  it('loses none of the changes that concurrent requests make (R-I1)', async () => {
    const webhook = await createWebhook(api.manager);
    const changes = [{ name: 'z' }, { httpMethod: 'PUT' }, { headers: { 'X-A': '1' } }, { isEnabled: false }];
    await Promise.all(changes.map((change) => put(webhook, change)));
    expect(await read(webhook)).toMatchObject(Object.assign({}, ...changes));
  });
});

it('webhooks: a stored URL stays valid after the operator’s policy forbids it for new webhooks (R-I4, rulings part C)', async () => {
  const [webhook, url] = [await createWebhook(api.manager), 'http://10.0.0.1/'];
  await setByService(webhook.id, `url = '${url}'`);
  expect((await put(webhook, { ...(await read(webhook)), name: 'x' })).status).toBe(200);
  const disable = [{ op: 'replace', path: '/isEnabled', value: false }];
  expect((await api.manager.patch(path(webhook), disable)).status).toBe(200);
  expect((await put(webhook, { url: `${url}other` })).status).toBe(400);
});

/** Adds a message that has one delivery attempt. @returns the id of the attempt. */
async function addAttempt({ id }: SeenWebhook, state: string): Promise<string> {
  const { rows } = await api.database.query<{ id: string }>(
    `with event as (
       insert into webhook_event (webhook_id, account_id, type, date, data)
       values ($1, $2, 'SiteCreated', now(), '{}') returning id
     )
     insert into webhook_attempt (event_id, webhook_id, state) select id, $1, $3 from event returning id::text`,
    [id, api.accountId, state],
  );
  return rows[0]?.id ?? '';
}

it('webhooks: after a webhook is disabled, none of its messages waits for delivery (R-I1)', async () => {
  const webhook = await createWebhook(api.manager);
  const waiting = async () => {
    const sql = `select count(*) from webhook_attempt where webhook_id = $1 and state = 'Pending'`;
    return (await api.database.query<{ count: number }>(sql, [webhook.id])).rows[0]?.count;
  };
  await addAttempt(webhook, 'Pending');
  await put(webhook, { name: 'still enabled' });
  expect(await waiting()).toBe(1);
  await put(webhook, { isEnabled: false });
  expect(await waiting()).toBe(0);
});

describe('webhooks: DELETE /account/webhooks/{id}', () => {
  it('answers 200 with an empty body; afterwards no route finds the webhook (§4.4, R-A6)', async () => {
    const webhook = await createWebhook(api.manager);
    const historyId = await addAttempt(webhook, 'Failed');
    expect(await api.manager.delete(path(webhook))).toMatchObject({ status: 200, body: undefined });
    const { body } = await api.manager.get<SeenWebhook[]>('/account/webhooks');
    expect(body.map(({ id }) => id)).not.toContain(webhook.id);
    const change = [{ op: 'replace', path: '/name', value: 'x' }];
    expect((await api.manager.get(path(webhook))).status).toBe(404);
    expect((await put(webhook, { name: 'x' })).status).toBe(404);
    expect((await api.manager.patch(path(webhook), change)).status).toBe(404);
    expect((await api.manager.delete(path(webhook))).status).toBe(404);
    expect((await api.manager.get(`${path(webhook)}/history`)).status).toBe(404);
    expect((await api.manager.post(`${path(webhook)}/history/${historyId}/replay`, undefined)).status).toBe(404);
  });

  it('erases credentials immediately; the next purge deletes the webhook and its history (R-I1, R-I5)', async () => {
    const webhook = await createWebhook(api.manager, WHOLE());
    const other = await createWebhook(api.manager);
    for (const hook of [webhook, other]) for (const state of ['Pending', 'Succeeded']) await addAttempt(hook, state);
    expect((await put(webhook, { secret: secretOf(24) })).status).toBe(200);
    await api.manager.delete(path(webhook));
    const rows = async (table: string, column: string) => {
      const sql = `select * from ${table} where ${column} = any($1::uuid[])`;
      return (await api.database.query(sql, [[webhook.id, other.id]])).rows;
    };
    const erased = (await rows('webhook', 'id')).filter(({ id }) => id === webhook.id);
    expect(erased).toHaveLength(1);
    expect(JSON.stringify(erased)).not.toMatch(/of-the-receiver|points were written|whsec_|https:/);
    await purgeHistory(api.database, 30, () => false);
    expect(await rows('webhook', 'id')).toMatchObject([{ id: other.id }]);
    expect(await rows('webhook_event', 'webhook_id')).toHaveLength(2);
    expect(await rows('webhook_attempt', 'webhook_id')).toHaveLength(2);
  });
});

it('webhooks: the id of a webhook of another account, an unknown id and a malformed id get the same 404 answer (R-A5)', async () => {
  const { id } = await createWebhook(api.stranger);
  for (const client of [api.manager, await api.signIn('adam', 'ADMIN')]) {
    for (const [method, body] of [['GET'], ['PUT', { name: 'x' }], ['PATCH', []], ['DELETE']] as const) {
      for (const asked of [id, id.toUpperCase(), '00000000-0000-4000-8000-000000000000', '7', "x'--", '%00']) {
        const answer = await client.send<Refusal>(method, `/account/webhooks/${asked}`, body);
        const words = { code: 'not_found', message: 'the webhook does not exist', requestId: expect.any(String) };
        expect([method, asked, answer.status, answer.body]).toEqual([method, asked, 404, words]);
      }
    }
  }
  expect((await api.stranger.get(path({ id }))).status).toBe(200);
});

it('webhooks: a USER cannot change or delete a webhook (R-B8)', async () => {
  const [user, webhook] = [await api.signIn('uwe', 'USER'), await createWebhook(api.manager)];
  expect((await user.put(path(webhook), { name: 'x' })).status).toBe(403);
  expect((await user.patch(path(webhook), [])).status).toBe(403);
  expect((await user.delete(path(webhook))).status).toBe(403);
  expect(await read(webhook)).toMatchObject(WEBHOOK);
});

describe('webhooks: filter', () => {
  it('a filter must name entities of the account; ids of another account and ids that do not exist get the same error (R-I1, R-A5)', async () => {
    const filter = {
      siteIds: [own.siteId, foreign.siteId],
      sourceIds: [foreign.sourceId, 987_654],
      variableIds: [987_654],
    };
    const { status, body } = await api.manager.post<Refusal>('/account/webhooks', { ...WEBHOOK, filter });
    expect(status).toBe(400);
    expect(body.details).toEqual([
      { path: '$.filter.siteIds[1]', message: `must be the id of a site of the account, got ${foreign.siteId}` },
      {
        path: '$.filter.sourceIds[0]',
        message: `must be the id of a source of the account, got ${foreign.sourceId}`,
      },
      { path: '$.filter.sourceIds[1]', message: 'must be the id of a source of the account, got 987654' },
      { path: '$.filter.variableIds[0]', message: 'must be the id of a variable of the account, got 987654' },
    ]);
    const webhook = await createWebhook(api.manager);
    expect((await put(webhook, { filter: { siteIds: [foreign.siteId] } })).status).toBe(400);
  });

  it.each(['UserCreated', 'UserLocked', 'InvitationAccepted'])(
    'a filter is refused for %s events, because these events name no site, source or variable (R-I1)',
    async (eventType) => {
      const filter = { siteIds: [own.siteId] };
      const { status, body } = await api.manager.post('/account/webhooks', { ...WEBHOOK, eventType, filter });
      expect([status, pathsOf(body)]).toEqual([400, ['$.filter']]);
      const webhook = await createWebhook(api.manager, { filter });
      expect((await put(webhook, { eventType })).status).toBe(400);
      expect((await put(webhook, { eventType, filter: null })).status).toBe(200);
    },
  );

  it.each(['DataPushCompleted', 'FileIngested'])(
    'a filter for %s events may name sites, sources and variables of its own account, but none of another account (R-I1, R-A5)',
    async (eventType) => {
      const filterOf = ({ siteId, sourceId, variableId }: typeof own) => ({
        ...{ siteIds: [siteId], sourceIds: [sourceId], variableIds: [variableId] },
      });
      const webhook = await createWebhook(api.manager, { eventType, filter: filterOf(own) });
      expect(webhook.filter).toEqual(filterOf(own));
      const refused = { ...WEBHOOK, eventType, filter: filterOf(foreign) };
      const { status, body } = await api.manager.post('/account/webhooks', refused);
      const paths = ['$.filter.siteIds[0]', '$.filter.sourceIds[0]', '$.filter.variableIds[0]'];
      expect([status, pathsOf(body)]).toEqual([400, paths]);
    },
  );

  it('a filter stays valid in PUT and POST after a site that it names is deleted (R-I1, rulings part C)', async () => {
    const { siteId } = await createStructure(api.manager);
    const webhook = await createWebhook(api.manager, { filter: { siteIds: [siteId, own.siteId] } });
    expect((await api.manager.delete(`/sites/${siteId}?hardDelete=true`)).status).toBe(204);
    const shown = await read(webhook);
    expect(shown.filter).toEqual({ siteIds: [siteId, own.siteId] });
    expect((await put(webhook, { ...shown, name: 'again' })).status).toBe(200);
    expect((await createWebhook(api.manager, shown)).filter).toEqual(shown.filter);
    const stranger = await api.stranger.post('/account/webhooks', { ...WEBHOOK, filter: { siteIds: [siteId] } });
    expect(stranger.status).toBe(400);
  });
});

it('webhooks: an account has at most 100 webhooks, even with concurrent creations (R-I1)', async () => {
  const answers = await Promise.all(
    Array.from({ length: 105 }, (_, index) =>
      api.stranger.post('/account/webhooks', { ...WEBHOOK, name: `n${index}` }),
    ),
  );
  const { rows } = await api.database.query('select count(*) from webhook where account_id = $1', [api.otherAccountId]);
  expect(rows).toEqual([{ count: 100 }]);
  const refused = answers.find(({ status }) => status !== 200);
  const message = expect.stringContaining('100 webhooks');
  expect(refused).toMatchObject({ status: 409, body: { code: 'conflict', message } });
});

it('webhooks: creation, change and deletion write audit entries without secrets (R-B14, R-I1)', async () => {
  const webhook = await createWebhook(api.manager, { name: 'Old', headers: { 'X-Key': 'hidden-value' } });
  await put(webhook, { name: 'New', secret: secretOf(24), headers: { 'X-Key': 'hidden-other' } });
  await put(webhook, { name: '' });
  await api.manager.patch(path(webhook), [{ op: 'replace', path: '/url', value: 'https://b.example/hidden-path' }]);
  await api.manager.delete(path(webhook));
  const { body } = await api.manager.get(`/account/audit?targetId=${webhook.id}`);
  expect(body).toMatchObject([
    { action: 'WebhookDeleted', targetName: 'New', userName: 'max', requestId: expect.any(String) },
    { action: 'WebhookUpdated', targetName: 'New', details: { members: ['url'] } },
    { action: 'WebhookUpdated', targetName: 'New', details: { members: ['name', 'headers', 'secret'] } },
    { action: 'WebhookCreated', targetName: 'Old', details: { eventType: 'DataPointsWritten' } },
  ]);
  expect(JSON.stringify(body)).not.toMatch(/hidden|whsec_/);
});
