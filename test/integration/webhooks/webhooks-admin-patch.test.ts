import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findReceiver } from '../../../src/webhooks/delivery/claim-attempts.ts';
import { openSecretVault } from '../../../src/webhooks/secret-vault.ts';
import { createSite } from '../../support/fixtures/structure.ts';
import { createWebhook, type SeenWebhook, secretOf } from '../../support/fixtures/webhooks.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
let siteId: number;
beforeAll(async () => {
  api = await startTestApi();
  siteId = await createSite(api.manager);
});
afterAll(() => api.close());

const create = () =>
  createWebhook(api.manager, {
    headers: { 'X-A': 'a', 'X-B': 'b' },
    filter: { siteIds: [siteId] },
    bodyTemplate: '{}',
    httpMethod: 'PUT',
  });
const path = ({ id }: SeenWebhook) => `/account/webhooks/${id}`;
const read = async (webhook: SeenWebhook) => (await api.manager.get<SeenWebhook>(path(webhook))).body;

it('webhooks: PATCH applies a JSON Patch (RFC 6902) and answers 200 with an empty body (R-I6, R-A6)', async () => {
  const [webhook, other] = [await create(), await createSite(api.manager)];
  const operations = [
    { op: 'test', path: '/modifiedDate', value: webhook.modifiedDate },
    { op: 'test', path: '/id', value: webhook.id },
    { op: 'replace', path: '/name', value: 'patched' },
    { op: 'replace', path: '/isEnabled', value: false },
    { op: 'remove', path: '/headers/X-A' },
    { op: 'move', from: '/headers/X-B', path: '/headers/X-C' },
    { op: 'add', path: '/Filter/SITEIDS/-', value: other },
    { op: 'remove', path: '/bodyTemplate' },
    { op: 'replace', path: '/EventType', value: 'sitedeleted' },
  ];
  expect(await api.manager.patch(path(webhook), operations)).toMatchObject({ status: 200, body: undefined });
  expect(await read(webhook)).toMatchObject({
    ...{ id: webhook.id, name: 'patched', isEnabled: false, eventType: 'SiteDeleted', bodyTemplate: null },
    ...{ url: webhook.url, headers: { 'X-C': 'b' }, filter: { siteIds: [siteId, other] } },
  });
});

it.each(['application/json', 'application/json-patch+json', 'application/merge-patch+json'])(
  'webhooks: PATCH accepts the media type %s (R-A4)',
  async (type) => {
    const operations = [{ op: 'replace', path: '/name', value: type }];
    const webhook = await create();
    const answer = await api.manager.send('PATCH', path(webhook), operations, { headers: { 'content-type': type } });
    expect([answer.status, (await read(webhook)).name]).toEqual([200, type]);
  },
);

it('webhooks: the PATCH operation `remove` resets `headers`, `filter`, `bodyTemplate` and `httpMethod` (R-I6)', async () => {
  const webhook = await create();
  const operations = ['headers', 'filter', 'bodyTemplate', 'httpMethod'].map((name) => ({
    op: 'remove',
    path: `/${name}`,
  }));
  expect((await api.manager.patch(path(webhook), operations)).status).toBe(200);
  const cleared = { headers: {}, filter: {}, bodyTemplate: null, httpMethod: 'POST' };
  expect(await read(webhook)).toMatchObject({ ...cleared, name: webhook.name, url: webhook.url });
});

describe('webhooks: PATCH', () => {
  const FINE = { op: 'replace', path: '/bodyTemplate', value: '{"changed": true}' };

  it('accepts a valid patch (R-I6)', async () => {
    expect((await api.manager.patch(path(await create()), [FINE])).status).toBe(200);
  });

  it.each([
    ['a test operation that fails', 409, { op: 'test', path: '/name', value: 'other' }],
    ['a test of a missing value', 409, { op: 'test', path: '/headers/X-Z', value: 'z' }],
    ['a path to an unknown field', 400, { op: 'add', path: '/colour', value: 'red' }],
    ['an unknown list in the filter', 400, { op: 'add', path: '/filter/userIds', value: [1] }],
    ['a copy from an unknown list in the filter', 400, { op: 'copy', from: '/filter/userIds', path: '/bodyTemplate' }],
    ['a test of an unknown field', 400, { op: 'test', path: '/accountId', value: 1 }],
    ['a replacement of the whole document', 400, { op: 'replace', path: '', value: {} }],
    ['a test of the whole document', 400, { op: 'test', path: '', value: {} }],
    ['a replacement of the read-only field id', 400, { op: 'replace', path: '/id', value: 'x' }],
    ['an addition of the read-only field disabledReason', 400, { op: 'add', path: '/disabledReason', value: 'x' }],
    ['a move from a read-only field', 400, { op: 'move', from: '/createdDate', path: '/name' }],
    ['a path into a text', 400, { op: 'add', path: '/name/x', value: 1 }],
    ['a path through __proto__', 400, { op: 'add', path: '/__proto__/polluted', value: 1 }],
    ['a deep path through __proto__', 400, { op: 'add', path: '/headers/__proto__', value: { polluted: 'x' } }],
    ['a path through constructor', 400, { op: 'add', path: '/headers/constructor/prototype/polluted', value: 1 }],
    ['a removal of the required field name', 400, { op: 'remove', path: '/name' }],
    ['a removal of isEnabled', 400, { op: 'remove', path: '/isEnabled' }],
    ['a URL with the scheme ftp', 400, { op: 'replace', path: '/url', value: 'ftp://a' }],
    ['an addition of the reserved header webhook-id', 400, { op: 'add', path: '/headers/webhook-id', value: 'x' }],
    ['a removal of the only id in the filter', 400, { op: 'remove', path: '/filter/siteIds/0' }],
    ['a filter with a site id that does not exist', 400, { op: 'add', path: '/filter/siteIds/-', value: 987_654 }],
    [
      'an event type that takes no filter, for a webhook with a filter',
      400,
      { op: 'replace', path: '/eventType', value: 'UserLocked' },
    ],
    ['an unknown operation', 400, { op: 'explode', path: '/name' }],
    ['a secret of the wrong form', 400, { op: 'replace', path: '/secret', value: 'x' }],
    ['a test of the secret', 400, { op: 'test', path: '/secret', value: secretOf(24) }],
    ['a test of the secret against null', 400, { op: 'test', path: '/Secret', value: null }],
    ['a copy of the secret', 400, { op: 'copy', from: '/secret', path: '/name' }],
    ['a copy of the secret to a nullable field', 400, { op: 'copy', from: '/secret', path: '/bodyTemplate' }],
    ['a move of the secret', 400, { op: 'move', from: '/secret', path: '/name' }],
    ['a copy of the name to the secret', 400, { op: 'copy', from: '/name', path: '/secret' }],
    ['a removal of the secret', 400, { op: 'remove', path: '/secret' }],
    ['a path into the secret', 400, { op: 'add', path: '/secret/0', value: 'x' }],
  ])('refuses a patch with %s, and applies none of its operations (R-I6)', async (_what, status, operation) => {
    const webhook = await create();
    const operations = [FINE, operation];
    const answer = await api.manager.patch(path(webhook), operations);
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.not.stringMatching(/whsec_[A-Z]/)]);
    expect(await read(webhook)).toMatchObject({ bodyTemplate: '{}', modifiedDate: webhook.modifiedDate });
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('refuses a body that is not an array (R-I6)', async () => {
    const webhook = await create();
    for (const body of [{ op: 'replace', path: '/name', value: 'x' }, 'x', null, 3]) {
      expect((await api.manager.patch(path(webhook), body)).status).toBe(400);
    }
  });

  it('an error names the index of the refused operation, or the members that the patch would make invalid (R-I6, R-A5)', async () => {
    const webhook = await create();
    const refused = async (...operations: readonly object[]) =>
      (await api.manager.patch(path(webhook), operations)).body as { details: readonly { path: string }[] };
    const name = { op: 'test', path: '/name', value: webhook.name };
    expect((await refused(name, { op: 'remove', path: '/id' })).details[0]?.path).toBe('$[1].path');
    const wrong = ['url', 'eventType'].map((member) => ({ op: 'replace', path: `/${member}`, value: '' }));
    expect((await refused(...wrong)).details.map((detail) => detail.path)).toEqual(['$.url', '$.eventType']);
  });
});

it('webhooks: the PATCH operations `add` and `replace` change the secret, and the former secret stays valid (R-I6, R-I3)', async () => {
  const webhook = await createWebhook(api.manager, { secret: secretOf(24, 1) });
  const secrets = async () => (await findReceiver(api.database, openSecretVault([]), webhook.id))?.target.secrets;
  expect((await api.manager.patch(path(webhook), [{ op: 'add', path: '/name', value: 'x' }])).status).toBe(200);
  expect(await secrets()).toEqual([secretOf(24, 1)]);
  for (const [op, fill] of [['add', 2] as const, ['replace', 3] as const]) {
    const before = await secrets();
    const operations = [{ op, path: '/secret', value: secretOf(24, fill) }];
    expect((await api.manager.patch(path(webhook), operations)).status).toBe(200);
    expect(await secrets()).toEqual([secretOf(24, fill), before?.[0]]);
  }
});

it('webhooks: concurrent PATCH requests lose no change (R-I6)', async () => {
  const webhook = await createWebhook(api.manager);
  const names = Array.from({ length: 12 }, (_, index) => `X-${index}`);
  const patches = names.map((name) => [{ op: 'add', path: `/headers/${name}`, value: 'v' }]);
  await Promise.all(patches.map((operations) => api.manager.patch(path(webhook), operations)));
  expect(Object.keys((await read(webhook)).headers).sort()).toEqual(names.sort());
});
