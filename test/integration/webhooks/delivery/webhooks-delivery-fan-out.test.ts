/** Fan-out of events to messages: which webhooks get a message, and with which data (R-I1, R-I2, R-I8). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSite, createSource, createStructure, createVariable } from '../../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../../support/services/start-api.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
}, 60_000);
afterAll(() => api?.close());

interface Wanted {
  readonly siteIds?: readonly number[];
  readonly sourceIds?: readonly number[];
  readonly variableIds?: readonly number[];
  readonly accountId?: number;
  readonly isEnabled?: boolean;
}

/**
 * Fans out all events, then adds a webhook, so that the webhook receives only later events.
 * @returns the id of the webhook.
 */
async function addWebhook(eventType: string, wanted: Wanted = {}): Promise<string> {
  await api.parts.outbox.relay();
  const { rows } = await api.database.query<{ id: string }>(
    `insert into webhook (account_id, name, url, event_type, secret, site_ids, source_ids, variable_ids, is_enabled)
     values ($1, 'w', 'https://receiver.example', $2, 'whsec_', $3, $4, $5, $6) returning id`,
    [
      wanted.accountId ?? api.accountId,
      eventType,
      wanted.siteIds,
      wanted.sourceIds,
      wanted.variableIds,
      wanted.isEnabled ?? true,
    ],
  );
  return rows[0]?.id ?? '';
}

/** Fans out all events. @returns the data of the messages that wait for delivery to the webhook, oldest first. */
async function messagesOf(webhookId: string): Promise<readonly Record<string, unknown>[]> {
  await api.parts.outbox.relay();
  const { rows } = await api.database.query<{ data: Record<string, unknown> }>(
    `select data from webhook_attempt join webhook_event event on event.id = event_id
     where webhook_attempt.webhook_id = $1 and state = 'Pending' order by webhook_attempt.id`,
    [webhookId],
  );
  return rows.map(({ data }) => data);
}

async function push(...variableIds: readonly number[]): Promise<void> {
  const data = [{ date: '2026-03-01T00:00:00Z', value: 1 }];
  const { status } = await api.manager.post(
    '/api/data',
    variableIds.map((variableId) => ({ variableId, data })),
  );
  expect(status).toBe(200);
  await api.ingest();
}

test('webhook fan-out: structure events name the parents of the created, updated or deleted entity; the event of a move also names the former parent (R-I2)', async () => {
  const types = ['Created', 'Updated', 'Deleted'].flatMap((what) =>
    ['Site', 'Source', 'Variable'].map((of) => of + what),
  );
  const webhooks = new Map<string, string>();
  for (const type of types) webhooks.set(type, await addWebhook(type));
  const { manager } = api;
  const siteId = await createSite(manager, { name: 'Old' });
  const newSiteId = await createSite(manager, { name: 'New' });
  const sourceId = await createSource(manager, siteId, { name: 'Meter' });
  const variableId = await createVariable(manager, sourceId, { name: 'Power' });
  await manager.put(`/sites/${siteId}`, { name: 'Older' });
  await manager.put(`/sources/${sourceId}`, { siteId: newSiteId });
  await manager.put(`/sources/${sourceId}/variables/${variableId}`, { name: 'Heat' });
  await manager.delete(`/sites/${newSiteId}?hardDelete=true`);
  const messages = Object.fromEntries(
    await Promise.all([...webhooks].map(async ([type, id]) => [type, await messagesOf(id)] as const)),
  );
  expect(messages).toEqual({
    SiteCreated: [
      { id: siteId, name: 'Old' },
      { id: newSiteId, name: 'New' },
    ],
    SiteUpdated: [{ id: siteId, name: 'Older' }],
    SiteDeleted: [{ id: newSiteId, name: 'New' }],
    SourceCreated: [{ id: sourceId, name: 'Meter', siteId }],
    SourceUpdated: [{ id: sourceId, name: 'Meter', siteId: newSiteId, formerSiteId: siteId }],
    SourceDeleted: [{ id: sourceId, name: 'Meter', siteId: newSiteId }],
    VariableCreated: [{ id: variableId, name: 'Power', sourceId, siteId }],
    VariableUpdated: [{ id: variableId, name: 'Heat', sourceId, siteId: newSiteId }],
    VariableDeleted: [{ id: variableId, name: 'Heat', sourceId, siteId: newSiteId }],
  });
});

test('webhook fan-out: a filter by site, source or variable matches the deletion of a variable (R-I1)', async () => {
  const one = await createStructure(api.manager);
  const other = await createStructure(api.manager);
  const [bySite, bySource, byVariable] = [
    await addWebhook('VariableDeleted', { siteIds: [one.siteId] }),
    await addWebhook('VariableDeleted', { sourceIds: [one.sourceId] }),
    await addWebhook('VariableDeleted', { variableIds: [one.variableId] }),
  ];
  for (const { siteId } of [one, other]) await api.manager.delete(`/sites/${siteId}?hardDelete=true`);
  for (const webhookId of [bySite, bySource, byVariable]) {
    expect(await messagesOf(webhookId)).toEqual([expect.objectContaining({ id: one.variableId })]);
  }
});

test('webhook fan-out: a push to several variables gives a webhook one message, with only the variables that its filter selects (R-I1)', async () => {
  const [one, two, three] = [
    await createStructure(api.manager),
    await createStructure(api.manager),
    await createStructure(api.manager),
  ];
  const all = await addWebhook('DataPointsWritten');
  const some = await addWebhook('DataPointsWritten', { siteIds: [one.siteId], variableIds: [three.variableId] });
  const none = await addWebhook('DataPointsWritten', { siteIds: [987_654] });
  await push(one.variableId, two.variableId, three.variableId);
  const written = ({ variableId, sourceId, siteId }: typeof one) => ({
    ...{ variableId, sourceId, siteId, count: 1 },
    ...{ from: '2026-03-01T00:00:00Z', to: '2026-03-01T00:00:00Z' },
  });
  expect(await messagesOf(all)).toEqual([{ variables: [one, two, three].map(written) }]);
  expect(await messagesOf(some)).toEqual([{ variables: [one, three].map(written) }]);
  expect(await messagesOf(none)).toEqual([]);
});

test('webhook fan-out: a webhook gets one message for each of twelve concurrent pushes (R-I2, R-D7)', async () => {
  const { variableId } = await createStructure(api.manager);
  const webhookId = await addWebhook('DataPushCompleted');
  const labels = Array.from({ length: 12 }, (_, index) => `fan-out-${index}`);
  const data = [{ date: '2026-03-01T00:00:00Z', value: 1 }];
  await Promise.all(labels.map((label) => api.manager.post(`/api/data?operationId=${label}`, [{ variableId, data }])));
  await api.ingest();
  const messages = await messagesOf(webhookId);
  expect(messages.map(({ operationId }) => operationId).toSorted()).toEqual(labels.toSorted());
  for (const message of messages) expect(message).toMatchObject({ state: 'Completed', accepted: { readings: 1 } });
});

test('webhook fan-out: a filter matches exactly the pushes that have accepted points of a selected variable (R-I1, R-D7)', async () => {
  const [one, two] = [await createStructure(api.manager), await createStructure(api.manager)];
  const webhooks = [
    await addWebhook('DataPushCompleted', { siteIds: [one.siteId] }),
    await addWebhook('DataPushCompleted', { sourceIds: [one.sourceId], variableIds: [987_654] }),
    await addWebhook('DataPushCompleted', { variableIds: [one.variableId] }),
  ];
  const other = await addWebhook('DataPushCompleted', { siteIds: [two.siteId] });
  const send = (label: string, elements: readonly { readonly variableId: number; readonly count: number }[]) =>
    api.manager.post(
      `/api/data?operationId=${label}`,
      elements.map(({ variableId, count }) => ({
        variableId,
        data: Array.from({ length: count }, (_, index) => ({ date: Date.UTC(2026, 0, 1) + index * 60_000, value: 1 })),
      })),
    );
  // Small pushes may share a batch and an operation, a large push of new dates is written directly, and a push to an
  // unknown variable is rejected.
  await send('large-one', [{ variableId: one.variableId, count: 1500 }]);
  const small = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? one : two));
  await Promise.all(small.map(({ variableId }, index) => send(`small-${index}`, [{ variableId, count: 1 }])));
  await send('both', [
    { variableId: two.variableId, count: 2 },
    { variableId: one.variableId, count: 1 },
  ]);
  await send('none', [{ variableId: 987_654, count: 1 }]);
  await api.ingest();
  const labelsOf = async (webhookId: string) => {
    const messages = await messagesOf(webhookId);
    for (const message of messages) expect(message).not.toHaveProperty('concerns');
    return messages.map(({ operationId }) => operationId).toSorted();
  };
  for (const webhookId of webhooks) {
    expect(await labelsOf(webhookId)).toEqual(['both', 'large-one', 'small-0', 'small-2', 'small-4', 'small-6']);
  }
  expect(await labelsOf(other)).toEqual(['both', 'small-1', 'small-3', 'small-5', 'small-7']);
});

test('webhook fan-out: a filter by site matches both the time-out and the later failure of a push to that site (R-I1, R-D7)', async () => {
  const [one, two] = [await createStructure(api.manager), await createStructure(api.manager)];
  const webhookId = await addWebhook('DataPushCompleted', { siteIds: [one.siteId] });
  const data = [{ date: '2026-03-01T00:00:00Z', value: 1 }];
  for (const [label, { variableId }] of [
    ['late', one],
    ['other', two],
  ] as const) {
    await api.manager.post(`/api/data?operationId=${label}&operationTimeoutSec=1`, [{ variableId, data }]);
  }
  await api.database.query(`update push_operation set deadline = now() where label in ('late', 'other')`);
  await api.database.query('update push_batch set deadline = now()');
  await api.database.query('select announce_late_push_operations(10)');
  expect(await messagesOf(webhookId)).toEqual([expect.objectContaining({ operationId: 'late', state: 'Queued' })]);
  await api.database.query(
    `select end_push_operations(operation_ids, 'Failed', 'tried', array[id]) from push_batch where account_id = $1`,
    [api.accountId],
  );
  const messages = await messagesOf(webhookId);
  expect(messages.map(({ operationId, state }) => `${operationId} ${state}`)).toEqual(['late Queued', 'late Failed']);
  await api.database.query('delete from push_batch');
});

test('webhook fan-out: webhooks of another account, webhooks for another event type and disabled webhooks get no message (R-I8)', async () => {
  const webhooks = [
    await addWebhook('SiteCreated', { accountId: api.otherAccountId }),
    await addWebhook('SiteUpdated'),
    await addWebhook('SiteCreated', { isEnabled: false }),
  ];
  await createSite(api.manager);
  for (const webhookId of webhooks) expect(await messagesOf(webhookId)).toEqual([]);
});
