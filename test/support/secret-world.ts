/**
 * Things that must not be seen: of another account, and of a site that was not granted. Everything about them has a mark
 * in its name, and what they are is said by kind, so that a walk over all routes can put their ids anywhere.
 */
import type { Database } from '../../src/platform/database/database.ts';
import type { TestClient } from './clients/test-client.ts';
import { addPerson } from './people.ts';
import type { TestApi } from './start-api.ts';
import { createSite, createSource, createVariable } from './structure.ts';
import { createWebhook } from './webhooks.ts';

/** What an id may be of. */
export type Kind =
  | 'site'
  | 'source'
  | 'variable'
  | 'run'
  | 'user'
  | 'account'
  | 'view'
  | 'invitation'
  | 'mapper'
  | 'webhook'
  | 'attempt'
  | 'webhookTest'
  | 'file'
  | 'label';

export type Ids = Readonly<Record<Kind, string>>;

/** A number that appears in no other place. */
export const SECRET_VALUE = 424242.5;

/** Nobody has these. */
export const NO_IDS: Ids = {
  ...{ site: '987654', source: '987654', variable: '987654', run: '987654', account: '987654' },
  ...{ user: 'nobody-at-all', view: 'nobody-at-all', invitation: 'nobody-at-all' },
  ...{ mapper: '00000000-0000-4000-8000-000000000000', file: '00000000-0000-4000-8000-000000000000' },
  ...{ webhook: '00000000-0000-4000-8000-000000000000', webhookTest: '00000000-0000-4000-8000-000000000000' },
  attempt: '987654',
  label: 'nobody-at-all',
};

/** From here on ids are numbers that stand for nothing else in an answer. */
export async function startIdsHigh(database: Database): Promise<void> {
  for (const [index, table] of ['site', 'source', 'variable', 'calculation_run', 'webhook_attempt'].entries()) {
    await database.query(`alter table ${table} alter column id restart with ${700_001 + index * 10_000}`);
  }
}

/** A site with a source, a variable, points, a run and a webhook for it with its history and a test, all marked. @returns their ids. */
export async function addSecretStructure(api: TestApi, client: TestClient, accountId: number, mark: string) {
  const name = { name: `${mark} name` };
  const site = await createSite(client, { ...name, city: `${mark} city`, clientData: { note: `${mark} data` } });
  const source = await createSource(client, site, { ...name, serialNumber: `${mark}-serial` });
  const variable = await createVariable(client, source, { ...name, mappingConfig: `${mark}-map`, isVersioned: true });
  const data = [{ date: '2026-01-01T00:00:00Z', value: SECRET_VALUE, version: `${mark}-version`, tags: { mark } }];
  const push = await client.post(`/api/data?operationId=${mark}-label`, [{ variableId: variable, data }]);
  if (push.status !== 200) throw new Error(JSON.stringify(push.body));
  const run = await addRun(api.database, accountId, variable, mark);
  const filter = { siteIds: [site], sourceIds: [source], variableIds: [variable] };
  const { id: webhook } = await createWebhook(client, {
    ...name,
    filter,
    url: `https://receiver.example/${mark}`,
  });
  const told = await addTold(api.database, accountId, webhook, mark);
  return { site: String(site), source: String(source), variable: String(variable), run, webhook, ...told };
}

/** The rest of what an account holds, marked. */
export async function addSecretPeople(api: TestApi, client: TestClient, accountId: number, mark: string) {
  const user = await addPerson(api, `${mark}-user`, { accountIds: [accountId], firstName: `${mark} first` });
  const view = await client.post<{ id: string }>('/account/users/views', { name: `${mark} view`, filter: {} });
  const invitation = await client.post<{ id: string }>('/account/invitations', { email: `${mark}@x.example` });
  return {
    user,
    view: view.body.id,
    invitation: invitation.body.id,
    account: String(accountId),
    label: `${mark}-label`,
  };
}

async function addRun(database: Database, accountId: number, variableId: number, mark: string): Promise<string> {
  const { rows } = await database.query<{ id: number }>(
    `insert into calculation_run (variable_id, account_id, state, trigger, from_date, to_date, trigger_date, wave, attempt,
       default_version, requested_date, finished_date, message)
     values ($1, $2, 'Succeeded', 'Input', now(), now(), now(), 1, 0, $3, now(), now(), $3) returning id`,
    [variableId, accountId, `${mark} run`],
  );
  return String(rows[0]?.id);
}

/** What a webhook was told, and a test. */
async function addTold(database: Database, accountId: number, webhookId: string, mark: string) {
  const attempt = await database.query<{ id: number }>(
    `with event as (
       insert into webhook_event (webhook_id, account_id, type, date, data)
       values ($1, $2, 'DataPointsWritten', now(), jsonb_build_object('mark', $3::text)) returning id
     )
     insert into webhook_attempt (event_id, webhook_id, state, error) select id, $1, 'Failed', $3::text from event
     returning id`,
    [webhookId, accountId, mark],
  );
  const test = await database.query<{ id: string }>(
    `insert into webhook_test (account_id, webhook, data, state, error)
     values ($1, '{}', '{}', 'Failed', $2) returning id`,
    [accountId, mark],
  );
  return { attempt: String(attempt.rows[0]?.id), webhookTest: test.rows[0]?.id ?? '' };
}
