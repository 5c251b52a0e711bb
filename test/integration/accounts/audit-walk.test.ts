/**
 * Every POST, PUT, PATCH and DELETE route is listed here, either with the audit entry that it writes after success, or
 * with the reason why it writes none. The test fails for a new route until the route is listed.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AuditAction } from '../../../src/accounts/audit/audit.ts';
import { hashLinkToken } from '../../../src/identity/passwords/password-reset.ts';
import { type ApiRole, startApi } from '../../../src/roles/api-role.ts';
import { listenHttp } from '../../../src/roles/http-listener.ts';
import { createTestClient, type TestAnswer, type TestClient } from '../../support/clients/test-client.ts';
import { addPerson, deleteWith } from '../../support/fixtures/people.ts';
import { createSite, createSource, createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
let role: ApiRole;
let manager: TestClient;
let admin: TestClient;
let count = 0;
beforeAll(async () => {
  api = await startTestApi();
  role = await startApi(api.parts, await listenHttp('127.0.0.1', 0));
  manager = api.manager;
  admin = await api.signIn('ada', 'ADMIN');
});
afterAll(async () => {
  await role?.stop();
  await api?.close();
});

/**
 * Makes one successful call of a route.
 * @returns the answer of the route.
 */
type Deed = () => Promise<TestAnswer<unknown>>;

/** Creates a new user of the account on every call. */
const person = () => addPerson(api, `person ${++count}`, { email: `person${count}@north.example` });
const onPerson =
  (method: string, path: string, body?: unknown): Deed =>
  async () =>
    manager.send(method, `/account/user/${await person()}${path}`, body);
const claim = { claimType: 'datapusher.standard', claimValue: 'true' };
const features = [{ name: 'reports', level: 'Read' }];
const made = async (path: string, body: unknown) =>
  (await manager.post<{ id: string; guid?: string }>(path, body)).body.id;
const newView = () => made('/account/users/views', { name: 'View', filter: {} });
const newMapper = () => made('/account/mappers', { name: 'Mapper', expression: '[]' });
const newFormBody = () => ({ name: `Form ${++count}`, groups: [] });
const newForm = () => made('/form', newFormBody());
const newClient = async () =>
  (await admin.post<{ clientId: string }>('/admin/clients', { clientId: `client${++count}` })).body.clientId;
const webhook = { name: 'Hook', url: 'https://receiver.example/', eventType: 'SiteCreated' };
const newWebhook = () => made('/account/webhooks', webhook);
const replayWebhook: Deed = async () => {
  const id = await newWebhook();
  const { rows } = await api.database.query<{ id: string }>(
    `with event as (
       insert into webhook_event (webhook_id, account_id, type, date, data)
       values ($1, $2, 'SiteCreated', now(), '{}') returning id)
     insert into webhook_attempt (event_id, webhook_id, state) select id, $1, 'Failed' from event returning id::text`,
    [id, api.accountId],
  );
  return manager.post(`/account/webhooks/${id}/history/${rows[0]?.id}/replay`, undefined);
};
const invite = () => manager.post<{ id: string }>('/account/invitations', { email: `guest${++count}@x.example` });
const invitation = async () => (await invite()).body.id;

/** @returns a function that creates an invitation and accepts it with the token of the invitation's link. */
const accept =
  (path: string, query: string): Deed =>
  async () => {
    const id = await invitation();
    // Sending the email would create the token and set its expiry. Without a mail server, this statement does both.
    await api.database.query(
      `update invitation set token_hash = $2, expires_date = now() + interval '1 day' where id = $1`,
      [id, hashLinkToken(id)],
    );
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await fetch(`${api.origin}${path}?${query}=${id}`, { method: 'POST', headers });
    return { status: response.status, headers: response.headers, body: undefined };
  };

/**
 * Catalogues to which managers can add entries. Each key is the path of a catalogue. Each value has the members that a
 * new entry needs in addition to its name.
 */
const CATALOGUES = {
  ...{ '/units': { unitFamilyId: 2 }, '/unitFamily': {}, '/sitetypes': {}, '/sourceTypes': {}, '/energyTypes': {} },
  ...{ '/energyUsages': {}, '/variables/types': {}, '/account/features': {} },
};
const onCatalogues = Object.entries(CATALOGUES).flatMap(([path, members]): [string, readonly [AuditAction, Deed]][] => {
  const body = () => ({ name: `Entry ${++count}`, ...members });
  const newEntry = async () => `${path}/${await made(path, body())}`;
  return [
    [`POST ${path}`, ['CatalogueEntryCreated', () => manager.post(path, body())]],
    [`PUT ${path}/:id`, ['CatalogueEntryUpdated', async () => manager.put(await newEntry(), body())]],
    [`DELETE ${path}/:id`, ['CatalogueEntryDeleted', async () => manager.delete(await newEntry())]],
  ];
});

const ACTS: Readonly<Record<string, readonly [AuditAction, Deed]>> = {
  ...Object.fromEntries(onCatalogues),
  'PUT /account': ['AccountUpdated', () => manager.put('/account', { currency: 'EUR' })],
  'POST /account/user/create': [
    'UserCreated',
    () => manager.post('/account/user/create', { email: `made${++count}@north.example` }),
  ],
  'POST /account/user/:userId': ['UserUpdated', onPerson('POST', '', { firstName: 'New' })],
  'DELETE /account/user/:userId': ['UserDeleted', onPerson('DELETE', '')],
  'POST /account/user/:userId/lock': ['UserLocked', onPerson('POST', '/lock', { isLocked: true })],
  'POST /account/user/:userId/resetpassword': ['PasswordResetRequested', onPerson('POST', '/resetpassword')],
  'POST /account/user/:userId/claims/add': ['ClaimsAdded', onPerson('POST', '/claims/add', claim)],
  'POST /account/user/:userId/claims/remove': ['ClaimsRemoved', onPerson('POST', '/claims/remove', [claim])],
  'POST /account/user/:userId/features': ['FeaturesChanged', onPerson('POST', '/features', features)],
  'POST /account/user/:userId/secondaryAccesses': [
    'SecondaryAccessesChanged',
    onPerson('POST', '/secondaryAccesses', [{ name: 'Export', level: 'Read' }]),
  ],
  'POST /account/user/:userId/sites': [
    'SitesGranted',
    async () => onPerson('POST', '/sites', [{ siteId: await createSite(manager), level: 'Read' }])(),
  ],
  'DELETE /account/user/:userId/sites': ['SitesRevoked', onPerson('DELETE', '/sites', [1])],
  'POST /account/user/claims/add': [
    'ClaimsAdded',
    async () => manager.post('/account/user/claims/add', { ...claim, userId: await person() }),
  ],
  'PUT /account/user/claims/edit': [
    'ClaimsEdited',
    async () => {
      const userId = await person();
      await manager.post('/account/user/claims/add', { ...claim, userId });
      return manager.put('/account/user/claims/edit', { ...claim, claimValue: 'false', userId });
    },
  ],
  'DELETE /account/user/claims/remove': [
    'ClaimsRemoved',
    async () => deleteWith(manager, '/account/user/claims/remove', [{ ...claim, userId: await person() }]),
  ],
  'POST /account/users/account': [
    'UserAddedToAccount',
    async () => {
      const userIds = [await addPerson(api, `other ${++count}`, { accountIds: [api.otherAccountId] })];
      return admin.post('/account/users/account', { accountId: api.accountId, userIds });
    },
  ],
  'DELETE /account/users/account': [
    'UserRemovedFromAccount',
    async () => deleteWith(manager, '/account/users/account', { accountId: api.accountId, userIds: [await person()] }),
  ],
  'POST /account/users/views': [
    'ViewCreated',
    () => manager.post('/account/users/views', { name: 'Mine', filter: { roles: ['USER'] } }),
  ],
  'PUT /account/users/views/:id': [
    'ViewUpdated',
    async () => manager.put(`/account/users/views/${await newView()}`, { name: 'Other', filter: {} }),
  ],
  'DELETE /account/users/views/:id': [
    'ViewDeleted',
    async () => manager.delete(`/account/users/views/${await newView()}`),
  ],
  'POST /account/invitations': ['InvitationCreated', invite],
  'POST /account/invitations/:id/resend': [
    'InvitationResent',
    async () => manager.post(`/account/invitations/${await invitation()}/resend`, undefined),
  ],
  'DELETE /account/invitations/:id': [
    'InvitationDeleted',
    async () => manager.delete(`/account/invitations/${await invitation()}`),
  ],
  'POST /account/user/register': ['InvitationAccepted', accept('/account/user/register', 'invitationToken')],
  'POST /account/invitation': ['InvitationAccepted', accept('/account/invitation', 'token')],
  'POST /account/mappers': ['MapperCreated', () => manager.post('/account/mappers', { name: 'M', expression: '[]' })],
  'PUT /account/mappers/:id': [
    'MapperUpdated',
    async () => manager.put(`/account/mappers/${await newMapper()}`, { name: 'New', expression: '[]' }),
  ],
  'DELETE /account/mappers/:id': ['MapperDeleted', async () => manager.delete(`/account/mappers/${await newMapper()}`)],
  'POST /account/webhooks': ['WebhookCreated', () => manager.post('/account/webhooks', webhook)],
  'PUT /account/webhooks/:id': [
    'WebhookUpdated',
    async () => manager.put(`/account/webhooks/${await newWebhook()}`, { ...webhook, name: 'New' }),
  ],
  'PATCH /account/webhooks/:webhookId': [
    'WebhookUpdated',
    async () => {
      const operations = [{ op: 'replace', path: '/name', value: 'New' }];
      return manager.patch(`/account/webhooks/${await newWebhook()}`, operations);
    },
  ],
  'DELETE /account/webhooks/:id': [
    'WebhookDeleted',
    async () => manager.delete(`/account/webhooks/${await newWebhook()}`),
  ],
  'POST /account/webhooks/:id/history/:historyId/replay': ['WebhookReplayed', replayWebhook],
  'POST /account/webhooks/test': ['WebhookTested', () => manager.post('/account/webhooks/test', webhook)],
  'POST /form': ['FormCreated', () => manager.post('/form', newFormBody())],
  'PUT /form/:id': ['FormUpdated', async () => manager.put(`/form/${await newForm()}`, { groups: [] })],
  'DELETE /form/:id': ['FormDeleted', async () => manager.delete(`/form/${await newForm()}`)],
  'DELETE /sites/:id': ['SiteDeleted', async () => manager.delete(`/sites/${await createSite(manager)}`)],
  'DELETE /sources/:id': [
    'SourceDeleted',
    async () => manager.delete(`/sources/${await createSource(manager, await createSite(manager))}`),
  ],
  'DELETE /sources/:sourceId/variables/:id': [
    'VariableDeleted',
    async () => {
      const { sourceId, variableId } = await createStructure(manager);
      return manager.delete(`/sources/${sourceId}/variables/${variableId}`);
    },
  ],
  'DELETE /data': [
    'PointsDeleted',
    async () => {
      const { variableId } = await createStructure(manager);
      await manager.post('/api/data', [{ variableId, data: [{ date: '2026-01-01T00:00:00Z', value: 1 }] }]);
      await api.ingest();
      return deleteWith(manager, '/data', { variableIds: [variableId] });
    },
  ],
  'POST /variables/:id/purgeVersions': [
    'VersionsPurged',
    async () => {
      const sourceId = await createSource(manager, await createSite(manager));
      const id = await createVariable(manager, sourceId, { isVersioned: true });
      return admin.post(`/variables/${id}/purgeVersions`, undefined);
    },
  ],
  'PUT /account/retention': [
    'RetentionSaved',
    () => manager.put('/account/retention', { keepRawYears: 150, isActive: false }),
  ],
  'DELETE /account/retention': [
    'RetentionRemoved',
    async () => {
      await manager.put('/account/retention', { keepRawYears: 150 });
      return manager.delete('/account/retention');
    },
  ],
  'PUT /variables/:id/retention': [
    'RetentionSaved',
    async () => manager.put(`/variables/${(await createStructure(manager)).variableId}/retention`, { keepRawYears: 9 }),
  ],
  'DELETE /variables/:id/retention': [
    'RetentionRemoved',
    async () => {
      const path = `/variables/${(await createStructure(manager)).variableId}/retention`;
      await manager.put(path, { keepRawYears: 9 });
      return manager.delete(path);
    },
  ],
  'POST /admin/clients': ['ClientCreated', () => admin.post('/admin/clients', { clientId: `client${++count}` })],
  'PUT /admin/clients/:clientId': [
    'ClientUpdated',
    async () => admin.put(`/admin/clients/${await newClient()}`, { isEnabled: false }),
  ],
  'POST /admin/clients/:clientId/secret': [
    'ClientSecretReplaced',
    async () => admin.post(`/admin/clients/${await newClient()}/secret`, {}),
  ],
  'DELETE /admin/clients/:clientId': ['ClientDeleted', async () => admin.delete(`/admin/clients/${await newClient()}`)],
  'POST /admin/signingKeys': ['SigningKeyAdded', () => admin.post('/admin/signingKeys', undefined)],
  'POST /variables/purgeVersions': ['VersionsPurged', () => admin.post('/variables/purgeVersions', undefined)],
};

const DATA = 'data, not administration: its operation, file or run says who and when';
const STRUCTURE = 'a change of the structure, reported as an event; permanent deletions are in the trail';
const QUESTION = 'asks, and changes nothing';

const NO_ACTS: Readonly<Record<string, string>> = {
  'POST /api/data': DATA,
  'POST /api/generic/:guid': DATA,
  'POST /api/operations/:label/replay': DATA,
  'POST /storage': DATA,
  'POST /variables/:id/forceUpdate': DATA,
  'POST /variables/:id/stopUpdate': DATA,
  'POST /sources/:id/forceUpdate': DATA,
  'POST /sources/:id/stopUpdate': DATA,
  'POST /sites/:id/forceUpdate': DATA,
  'POST /sites/:id/stopUpdate': DATA,
  'POST /sites': STRUCTURE,
  'PUT /sites/:id': STRUCTURE,
  'PATCH /sites/:id': STRUCTURE,
  'POST /structure/import': STRUCTURE,
  'POST /sources': STRUCTURE,
  'PUT /sources/:id': STRUCTURE,
  'PATCH /sources/:id': STRUCTURE,
  'POST /variables/source/:sourceId': STRUCTURE,
  'PUT /sources/:sourceId/variables/:id': STRUCTURE,
  'PATCH /sources/:sourceId/variables/:id': STRUCTURE,
  'POST /account/users': QUESTION,
  'POST /data': QUESTION,
  'POST /account/mappers/:id/test': QUESTION,
  'POST /account/mappers/test': QUESTION,
  'POST /sources/:sourceId/variables/:id/calculated/validate': QUESTION,
  'POST /sources/:sourceId/variables/:id/calculated/evaluate': QUESTION,
  'POST /account/user/active-account/:accountId': 'changes a preference of the caller',
  'POST /user/signOut': 'ends sessions of the caller',
};

const READS = new Set(['GET', 'HEAD', 'OPTIONS', 'ALL']);
const mutating = () => [
  ...new Set(role.routes.filter(({ method }) => !READS.has(method)).map(({ method, path }) => `${method} ${path}`)),
];

it('accounts: each POST, PUT, PATCH or DELETE route is listed as audited, or as exempt with the reason (R-B14)', () => {
  const known = [...Object.keys(ACTS), ...Object.keys(NO_ACTS)];
  expect(mutating().filter((route) => !known.includes(route))).toEqual([]);
  expect(known.filter((route) => !mutating().includes(route))).toEqual([]);
  expect(new Set(known).size).toBe(known.length);
});

interface Entry {
  readonly id: number;
  readonly action: string;
  readonly userName: string;
  readonly requestId: string | null;
}

/**
 * @returns the newest audit entry of the account; for a route below /admin, the newest audit entry that belongs to no
 * account.
 */
const lastEntry = async (route = '') => {
  const [client, scope] = / \/admin\//.test(route) ? [admin, 'Operator'] : [manager, 'Account'];
  const { body } = await client.get<readonly Entry[]>(`/account/audit?itemsPerPage=1&scope=${scope}`);
  return body[0] ?? { id: 0, action: 'none' };
};

it.each(Object.entries(ACTS))(
  'accounts: %s writes an entry into the audit trail (R-B14)',
  async (route, [action, deed]) => {
    const { status, headers } = await deed();
    expect(status).toBeLessThan(300);
    const entry = await lastEntry(route);
    expect(entry).toMatchObject({ action, userName: expect.any(String), requestId: headers.get('x-request-id') });
  },
);

it('accounts: a refused change leaves no entry in the audit trail (R-B14)', async () => {
  const before = await lastEntry();
  const una = await api.signIn('una', 'USER');
  for (const client of [una, api.stranger, createTestClient(api.origin)]) {
    expect((await client.delete(`/account/users/views/${await newView()}`)).status).toBeGreaterThan(400);
  }
  expect((await lastEntry()).action).toBe('ViewCreated');
  expect((await lastEntry()).id).toBe(before.id + 3);
});
