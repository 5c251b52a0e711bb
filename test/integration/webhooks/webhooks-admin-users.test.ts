/**
 * A USER sees every webhook that has no filter, and every webhook whose filter names at least one entity that the USER
 * can access at least in part. In all these webhooks, some JSON members are hidden or masked for the USER (R-B9).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestClient } from '../../support/clients/test-client.ts';
import { userIdOf } from '../../support/fixtures/people.ts';
import { createSite, createSource, createVariable } from '../../support/fixtures/structure.ts';
import { createWebhook, type SeenWebhook } from '../../support/fixtures/webhooks.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

type Seen = SeenWebhook & { readonly successCount?: number; readonly lastExecution?: object | null };
type SiteStructure = Awaited<ReturnType<typeof createSiteStructure>>;

let api: TestApi;
let granted: SiteStructure;
/** A site in which `user` has access to the first source only. */
let partial: SiteStructure;
let hidden: SiteStructure;
/** A USER with access to `granted` and to the first source of `partial`. */
let user: TestClient;
beforeAll(async () => {
  api = await startTestApi();
  [granted, partial, hidden] = [await createSiteStructure(), await createSiteStructure(), await createSiteStructure()];
  user = await api.signIn('una', 'USER', { sites: [granted.siteId] });
  const sites = `/account/user/${await userIdOf(api, 'una')}/sites`;
  const grants = [{ siteId: granted.siteId }, { siteId: partial.siteId, sourceIds: [partial.sources[0]] }];
  expect((await api.manager.post(sites, grants)).status).toBe(200);
});
afterAll(() => api.close());

/** Creates a site with two sources; each source has one variable. */
async function createSiteStructure() {
  const siteId = await createSite(api.manager);
  const sources = [await createSource(api.manager, siteId), await createSource(api.manager, siteId)] as const;
  const [first, second] = [
    await createVariable(api.manager, sources[0]),
    await createVariable(api.manager, sources[1]),
  ];
  return { siteId, sources, variables: [first, second] as const };
}

/**
 * Creates a webhook that has delivery statistics, and reads the webhook as `user`.
 * @returns the webhook as `user` sees it; undefined when `user` does not see the webhook.
 */
async function see(members: object): Promise<Seen | undefined> {
  const { id } = await createWebhook(api.manager, members);
  await api.database.query(
    `update webhook set last_attempt_date = now(), last_attempt_state = 'Succeeded', success_count = 5 where id = $1`,
    [id],
  );
  const alone = await user.get<Seen>(`/account/webhooks/${id}?displayLevel=Verbose`);
  const list = (await user.get<Seen[]>('/account/webhooks?displayLevel=Verbose')).body;
  const listed = list.find((webhook) => webhook.id === id);
  expect(alone.status).toBe(listed ? 200 : 404);
  if (listed) expect(alone.body).toEqual(listed);
  return listed;
}

describe('webhooks: a USER', () => {
  it('sees a webhook that has no filter, but does not see the statistics of the webhook (R-B9)', async () => {
    const seen = await see({ name: 'wide', eventType: 'UserCreated' });
    expect(seen).toMatchObject({ name: 'wide', eventType: 'UserCreated', filter: {} });
    expect(seen).not.toHaveProperty('successCount');
    expect(seen).not.toHaveProperty('lastExecution');
  });

  it('sees a webhook and its statistics when the filter names only entities within the site access of the USER (R-B9, R-I1)', async () => {
    for (const filter of [
      { siteIds: [granted.siteId] },
      { sourceIds: [granted.sources[1]], variableIds: [granted.variables[0]] },
      { sourceIds: [partial.sources[0]] },
      { variableIds: [partial.variables[0]] },
    ]) {
      const expected = { filter, successCount: 5, failureCount: 0, lastExecution: { state: 'Succeeded' } };
      expect(await see({ filter })).toMatchObject(expected);
    }
  });

  it('sees a webhook with a partly inaccessible filter, but not the inaccessible ids or the statistics (R-B9)', async () => {
    const filter = {
      siteIds: [hidden.siteId, granted.siteId],
      sourceIds: [hidden.sources[0]],
      variableIds: [partial.variables[1], partial.variables[0], hidden.variables[1]],
    };
    const seen = await see({ filter });
    expect(seen?.filter).toEqual({ siteIds: [granted.siteId], variableIds: [partial.variables[0]] });
    expect(seen).not.toHaveProperty('successCount');
  });

  it('sees a webhook for a partly accessible site, but not its statistics, because they cover the whole site (R-B9)', async () => {
    const seen = await see({ filter: { siteIds: [partial.siteId] } });
    expect(seen?.filter).toEqual({ siteIds: [partial.siteId] });
    expect(seen).not.toHaveProperty('successCount');
  });

  it('gets 404 for a webhook whose filter names only inaccessible entities (R-B9)', async () => {
    for (const filter of [
      { siteIds: [hidden.siteId] },
      { sourceIds: [hidden.sources[0], partial.sources[1]] },
      { variableIds: [hidden.variables[0], partial.variables[1]] },
    ]) {
      expect(await see({ filter })).toBeUndefined();
    }
    const { id } = await createWebhook(api.manager, { filter: { siteIds: [hidden.siteId] } });
    const { status, body } = await user.get(`/account/webhooks/${id}`);
    const words = { code: 'not_found', message: 'the webhook does not exist', requestId: expect.any(String) };
    expect({ status, body }).toEqual({ status: 404, body: words });
  });

  it('gets 404 for a webhook whose filter names only a deleted site, although a MANAGER can read the webhook (R-B9)', async () => {
    const { siteId } = await createSiteStructure();
    const { id } = await createWebhook(api.manager, { filter: { siteIds: [siteId] } });
    await api.manager.delete(`/sites/${siteId}?hardDelete=true`);
    expect((await user.get(`/account/webhooks/${id}`)).status).toBe(404);
    expect((await api.manager.get(`/account/webhooks/${id}`)).status).toBe(200);
  });
});

it('webhooks: the total and the pages of a listing cover only the webhooks that the caller may see (R-A7, R-B9)', async () => {
  const eventType = 'CalculationFailed';
  for (const { siteId } of [hidden, granted, hidden, granted]) {
    await createWebhook(api.manager, { eventType, filter: { siteIds: [siteId] } });
  }
  const ask = (client: TestClient, query: string) =>
    client.get<Seen[]>(`/account/webhooks?eventType=${eventType}${query}`, { 'x-total-count': 'true' });
  for (const [client, total] of [[user, 2] as const, [api.manager, 4] as const]) {
    const { body, headers } = await ask(client, '');
    expect([body.length, headers.get('x-total-count')]).toEqual([total, String(total)]);
    const pages = await Promise.all([0, 1].map((page) => ask(client, `&itemsPerPage=1&pageNumber=${page}`)));
    expect(pages.map((page) => page.body[0]?.id)).toEqual(body.slice(0, 2).map(({ id }) => id));
  }
});

it('webhooks: parts of `url`, `headers` and `bodyTemplate` that may hold credentials are masked for a USER and shown to a MANAGER and an ADMIN (R-B9, R-I1)', async () => {
  const members = {
    url: 'https://Receiver.example:8443/hooks/s3cret?key=s3cret',
    headers: { Authorization: 's3cret', 'X-Key': 's3cret' },
    bodyTemplate: '{"routing_key": "s3cret"}',
  };
  const seen = await see(members);
  expect(seen).toMatchObject({
    url: 'https://receiver.example:8443/…',
    headers: { Authorization: '…', 'X-Key': '…' },
    bodyTemplate: '…',
  });
  expect(JSON.stringify((await user.get('/account/webhooks?displayLevel=Verbose')).body)).not.toContain('s3cret');
  const admin = await api.signIn('ada', 'ADMIN');
  for (const client of [api.manager, admin]) {
    expect((await client.get(`/account/webhooks/${seen?.id}`)).body).toMatchObject(members);
  }
});
