/** With running server processes, every webhook event type reaches a receiver (R-I2, §6). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventType } from '../../src/webhooks/event-type.ts';
import { EVENT_TYPES } from '../../src/webhooks/event-type.ts';
import { SAMPLE_DATA } from '../../src/webhooks/trial-sends/sample-data.ts';
import { type Mailbox, openMailbox } from '../support/doubles/mailbox.ts';
import {
  openReceiver,
  type ReceivedMessage,
  SECRET,
  type WebhookReceiver,
} from '../support/doubles/webhook-receiver.ts';
import { eventually } from '../support/eventually.ts';
import { type ApiClient, signIn } from '../support/fixtures/sign-in.ts';
import { calculated, createSiteAndSource, createVariable } from '../support/fixtures/structure.ts';
import { createWorld, type World } from '../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../support/services/role-process.ts';
import { testRRoot } from '../support/services/stack.ts';

let world: World;
let roles: RoleProcess;
let api: ApiClient;
let receiver: WebhookReceiver;
let mailbox: Mailbox;
/** The site, source and variable that the events are about. */
let subject: { readonly siteId: number; readonly sourceId: number; readonly variableId: number };
let doubledId: number;
let failingId: number;

const DOUBLE =
  'ts <- inputVariables$a$TimeSeries; list(TimeSeries = data.frame(Dates = ts$Dates, Values = 2 * ts$Values))';

beforeAll(async () => {
  world = await createWorld();
  mailbox = await openMailbox();
  roles = await startRoles(['api', 'ingester', 'calculator', 'deliverer'], {
    ...world.environment,
    SMTP_URL: mailbox.url,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
    R_ROOT: testRRoot(),
  });
  api = await signIn(roles.http);
  receiver = await openReceiver();
  const { siteId, sourceId } = await createSiteAndSource(api);
  const variableId = await createVariable(api, sourceId, { name: 'input' });
  subject = { siteId, sourceId, variableId };
  const input = [{ alias: 'a', variableId, period: 1, periodTimeBase: 'Minute', canBeUsedAsATrigger: true }];
  doubledId = await createVariable(api, sourceId, { calculated: calculated(DOUBLE, input) });
  failingId = await createVariable(api, sourceId, { calculated: calculated('stop("no such day")', input) });
}, 60_000);

afterAll(async () => {
  await roles?.kill();
  await receiver?.close();
  await mailbox?.close();
  await world?.close();
});

const site = () => ({ name: 'Told', timeZoneId: 'UTC' });
const newSource = (name: string) => api.call<{ id: number }>('POST', '/sources', { siteId: subject.siteId, name });
const push = (label: string) =>
  api.call('POST', `/api/data?operationId=${label}`, [
    { variableId: subject.variableId, data: [{ date: '2026-03-01T00:00:00Z', value: 21 }] },
  ]);
const invite = (email: string) => api.call<{ id: string }>('POST', '/account/invitations', { email });
const newUser = (userName: string) =>
  api.call<{ id: string } | string>('POST', '/account/user/create', { userName, email: userName, roles: ['USER'] });

async function userIdOf(userName: string): Promise<string> {
  const users = await api.call<{ id: string; userName: string }[]>('GET', '/account/users');
  return users.find((user) => user.userName === userName)?.id ?? '';
}

/** Invites `email` and accepts the invitation with the token in the email. */
async function acceptInvitation(email: string): Promise<void> {
  await invite(email);
  const { text = '' } = await mailbox.next(email);
  const token = /[?&]token=([^\s&]+)/.exec(text)?.[1];
  await api.call('POST', `/account/user/register?invitationToken=${token}`);
}

const CASES: readonly (readonly [type: EventType, happen: () => Promise<unknown>, data: () => unknown])[] = [
  ['SiteCreated', () => api.call('POST', '/sites', site()), () => ({ id: expect.any(Number), name: 'Told' })],
  [
    'SiteUpdated',
    () => api.call('PUT', `/sites/${subject.siteId}`, { name: 'Renamed' }),
    () => ({ id: subject.siteId, name: 'Renamed' }),
  ],
  [
    'SiteDeleted',
    async () => api.call('DELETE', `/sites/${await api.call<number>('POST', '/sites', site())}`),
    () => ({ id: expect.any(Number), name: 'Told' }),
  ],
  ['SourceCreated', () => newSource('New'), () => ({ id: expect.any(Number), name: 'New', siteId: subject.siteId })],
  [
    'SourceUpdated',
    () => api.call('PUT', `/sources/${subject.sourceId}`, { name: 'Renamed' }),
    () => ({ id: subject.sourceId, name: 'Renamed', siteId: subject.siteId }),
  ],
  [
    'SourceDeleted',
    async () => api.call('DELETE', `/sources/${(await newSource('Gone')).id}`),
    () => ({ id: expect.any(Number), name: 'Gone', siteId: subject.siteId }),
  ],
  [
    'VariableCreated',
    () => createVariable(api, subject.sourceId, { name: 'new' }),
    () => ({ id: expect.any(Number), name: 'new', sourceId: subject.sourceId, siteId: subject.siteId }),
  ],
  [
    'VariableUpdated',
    () => api.call('PUT', `/sources/${subject.sourceId}/variables/${subject.variableId}`, { name: 'renamed' }),
    () => ({ id: subject.variableId, name: 'renamed', sourceId: subject.sourceId, siteId: subject.siteId }),
  ],
  [
    'VariableDeleted',
    async () => {
      const id = await createVariable(api, subject.sourceId, { name: 'gone' });
      return api.call('DELETE', `/sources/${subject.sourceId}/variables/${id}`);
    },
    () => ({ id: expect.any(Number), name: 'gone', sourceId: subject.sourceId, siteId: subject.siteId }),
  ],
  [
    'DataPointsWritten',
    () => push('written'),
    () => ({
      variables: [{ ...subject, count: 1, from: '2026-03-01T00:00:00Z', to: '2026-03-01T00:00:00Z' }],
    }),
  ],
  [
    'DataPushCompleted',
    () => push('completed'),
    () => ({
      ...{ operationId: 'completed', userId: expect.any(String), state: 'Completed', rejected: 0 },
      accepted: { elements: 1, readings: 1 },
      ...{ acceptedDate: expect.stringMatching(/Z$/), completedDate: expect.stringMatching(/Z$/) },
    }),
  ],
  [
    'FileIngested',
    () =>
      api.call('POST', '/storage?filename=told.csv', undefined, {
        raw: `variable_id,date,value\n${subject.variableId},2026-03-01T01:00:00Z,1\n`,
        headers: { 'content-type': 'text/csv' },
      }),
    () => ({
      ...{ fileId: expect.any(String), filename: 'told.csv', userId: expect.any(String), state: 'Completed' },
      counts: { rows: 1, ingested: 1, rejected: 0, warnings: 0 },
    }),
  ],
  [
    'CalculationCompleted',
    () => push('triggers'),
    () => ({
      ...{
        ...subject,
        variableId: doubledId,
        runId: expect.any(Number),
        trigger: 'Input',
        outcome: 'ok',
        message: null,
      },
      ...{ from: '2026-03-01T00:00:00Z', to: '2026-03-01T00:00:00Z' },
    }),
  ],
  [
    'CalculationFailed',
    () => push('fails'),
    () => ({
      ...{ ...subject, variableId: failingId, runId: expect.any(Number), trigger: 'Input', outcome: 'script_error' },
      message: expect.stringContaining('no such day'),
      ...{ from: '2026-03-01T00:00:00Z', to: '2026-03-01T00:00:00Z' },
    }),
  ],
  [
    'CalculationForceUpdate',
    () => api.call('POST', `/variables/${doubledId}/forceUpdate`, { from: '2026-03-01T00:00:00Z' }),
    () => ({ variableId: doubledId, from: '2026-03-01T00:00:00Z', variables: [{ ...subject, variableId: doubledId }] }),
  ],
  [
    'UserCreated',
    () => newUser('new@told.example'),
    () => ({
      ...{ id: expect.any(String), userName: 'new@told.example', email: 'new@told.example' },
      ...{ firstName: null, lastName: null },
    }),
  ],
  [
    'UserLocked',
    async () => {
      await newUser('locked@told.example');
      const id = await userIdOf('locked@told.example');
      return api.call('POST', `/account/user/${id}/lock`, { isLocked: true, reason: 'left' });
    },
    () => ({ id: expect.any(String), userName: 'locked@told.example', until: null, reason: 'left' }),
  ],
  [
    'InvitationAccepted',
    () => acceptInvitation('guest@told.example'),
    () => ({
      ...{ id: expect.any(String), userId: expect.any(String) },
      ...{ userName: 'guest@told.example', email: 'guest@told.example' },
    }),
  ],
];

test.each(CASES)('a subscriber receives the webhook event %s with its data (R-I2)', async (type, happen, data) => {
  const before = receiver.received.length;
  const webhook = { name: type, url: receiver.url, eventType: type, secret: SECRET };
  const { id } = await api.call<{ id: string }>('POST', '/account/webhooks', webhook);
  await happen();
  const message = await eventually(`a message of ${type}`, async () => {
    return receiver.received.slice(before).find(({ body }) => isAbout(body, data()));
  });
  expect(message.body).toEqual({
    type,
    timestamp: expect.stringMatching(/Z$/),
    accountId: world.accountId,
    data: data(),
  });
  // By default, a test message (`POST /account/webhooks/test`) carries SAMPLE_DATA. Therefore, SAMPLE_DATA must have
  // every member of the data received here (R-I7).
  expect(Object.keys(SAMPLE_DATA[type])).toEqual(expect.arrayContaining(Object.keys(message.body.data as object)));
  await api.call('DELETE', `/account/webhooks/${id}`);
});

/** @returns true when the data of the message match `data`; false for messages that still arrive for earlier events. */
function isAbout(body: ReceivedMessage['body'], data: unknown): boolean {
  try {
    expect(body.data).toEqual(data);
    return true;
  } catch {
    return false;
  }
}

test('webhook events: every event type has a test case (R-I2)', () => {
  expect(CASES.map(([type]) => type).toSorted()).toEqual([...EVENT_TYPES].toSorted());
});
