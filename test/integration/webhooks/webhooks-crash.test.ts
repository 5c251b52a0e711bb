/**
 * Tests that webhooks lose no event when processes are killed or dependencies fail, and that repeated messages have the
 * same id (R-K3, R-I3, R-I8).
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openTcpGate } from '../../support/doubles/tcp-gate.ts';
import { openReceiver, SECRET, type WebhookReceiver } from '../../support/doubles/webhook-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { type ApiClient, signIn } from '../../support/fixtures/sign-in.ts';
import { createStoredWorld, type StoredWorld } from '../../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../../support/services/role-process.ts';
import { BEGIN_HOLDING, forgetJobs } from '../../support/services/stack.ts';

const SETTINGS = {
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
  WEBHOOK_TIMEOUT_MS: '1500',
  WEBHOOK_RETRY_SEC: '0.5,0.5,0.5',
};

let world: StoredWorld;
let apiRole: RoleProcess;
let api: ApiClient;
let receiver: WebhookReceiver;
let webhookId: string;
const workers: RoleProcess[] = [];

beforeAll(async () => {
  world = await createStoredWorld();
  apiRole = await startRoles(['api'], { ...world.environment, ...SETTINGS });
  api = await signIn(apiRole.http);
}, 60_000);
afterAll(async () => {
  await apiRole?.kill();
  await world?.close();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill()));
  await world.database.query('delete from webhook; delete from outbox_event');
  await receiver.close();
});

async function start(role: 'ingester' | 'deliverer', environment = {}): Promise<RoleProcess> {
  const process = await startRoles([role], { ...world.environment, ...SETTINGS, ...environment });
  workers.push(process);
  return process;
}

/** Opens a receiver and adds a webhook for the event SiteCreated. */
async function subscribe(): Promise<void> {
  receiver = await openReceiver();
  const webhook = { name: 'crash', url: receiver.url, eventType: 'SiteCreated', secret: SECRET };
  ({ id: webhookId } = await api.call<{ id: string }>('POST', '/account/webhooks', webhook));
}

async function createSites(count: number): Promise<readonly number[]> {
  const ids: number[] = [];
  for (let made = 0; made < count; made += 1) {
    ids.push(await api.call<number>('POST', '/sites', { name: 'Mill', timeZoneId: 'UTC' }));
  }
  return ids;
}

/** @returns the ids of the sites in the stored messages, ascending; a message stored twice gives its site twice. */
async function storedSites(): Promise<readonly number[]> {
  const { rows } = await world.database.query<{ id: number }>(
    `select (data ->> 'id')::int as id from webhook_event where webhook_id = $1 order by 1`,
    [webhookId],
  );
  return rows.map(({ id }) => id);
}

async function attemptsOf(): Promise<readonly { readonly attempt: number; readonly state: string }[]> {
  const { rows } = await world.database.query(
    'select attempt, state from webhook_attempt where webhook_id = $1 order by id',
    [webhookId],
  );
  return rows;
}

const siteOf = ({ body }: WebhookReceiver['received'][number]) => (body.data as { id: number }).id;

/** Expects that one message for each site is stored and arrives, and that a repeated message keeps its id. */
async function expectAllDelivered(sites: readonly number[]): Promise<void> {
  await eventually(
    'an event of every site',
    async () => new Set(receiver.received.map(siteOf)).size === sites.length,
    40_000,
  );
  expect(await storedSites()).toEqual(sites);
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(sites.length);
  expect(receiver.forged).toEqual([]);
}

const allEnded = () =>
  eventually('every attempt to end', async () => {
    const attempts = await attemptsOf();
    return attempts.length > 0 && attempts.every(({ state }) => state !== 'Pending') && attempts;
  });

/** Locks the row of the webhook until `work` is done. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const blocker = await world.database.connect();
  try {
    await blocker.query(BEGIN_HOLDING);
    await blocker.query('select from webhook where id = $1 for update', [webhookId]);
    await work();
  } finally {
    await blocker.query('rollback');
    blocker.release();
  }
}

const isWaiting = (statement: string) =>
  eventually(`a wait in ${statement}`, async () => {
    const { rows } = await world.database.query<{ count: number }>(
      `select count(*) as count from pg_stat_activity
       where wait_event_type = 'Lock' and query like $1 and datname = current_database()`,
      [statement],
    );
    return (rows[0]?.count ?? 0) > 0;
  });

/**
 * Ends all leases immediately, as if the lease of a dead process had run out, and removes all jobs from Redis, so that
 * the sweeper of the next process finds the attempts.
 */
async function endClaims(): Promise<void> {
  await world.database.query(
    `update webhook_attempt set claimed_until = now() - interval '1 second' where claimed_until is not null`,
  );
  await forgetJobs(world.environment);
}

describe('webhook delivery: a message is sent again under the same id', () => {
  test('when its deliverer is killed before the response (R-I3, R-K3)', async () => {
    await subscribe();
    receiver.answer('hang', 200);
    const sites = await createSites(1);
    const victim = await start('deliverer');
    await receiver.waitFor(1);
    await victim.kill();
    expect(await attemptsOf()).toEqual([{ attempt: 1, state: 'Pending' }]);
    await endClaims();
    await start('deliverer');
    await receiver.waitFor(2);
    await expectAllDelivered(sites);
    expect(await allEnded()).toEqual([{ attempt: 1, state: 'Succeeded' }]);
  }, 60_000);

  test('when its deliverer is killed between the response and the commit of the outcome (R-I3, R-K3)', async () => {
    await subscribe();
    // The receiver answers 500 twice, so that the deliverer is recording a failure when it is killed. It records a
    // failure in a transaction, which PostgreSQL rolls back after the kill. A success would be a single statement,
    // which PostgreSQL could still commit.
    receiver.answer(500, 500, 200);
    const victim = await start('deliverer', { WEBHOOK_RETRY_SEC: '60,60,60' });
    const sites = await createSites(1);
    // The test waits for the stored message before it locks the row of the webhook. Otherwise the relay, which stores
    // the message, would wait for the lock.
    await eventually('the message', async () => (await storedSites()).length === 1);
    await eventually('a failure', async () => (await attemptsOf()).length > 1);
    const before = receiver.received.length;
    await whileLocked(async () => {
      await world.database.query(`update webhook_attempt set due_date = now() where state = 'Pending'`);
      await receiver.waitFor(before + 1);
      await isWaiting('%from write_webhook_outcomes(%');
      await victim.kill();
    });
    const answered = receiver.received.length;
    await endClaims();
    await start('deliverer');
    await receiver.waitFor(answered + 1);
    await expectAllDelivered(sites);
    expect((await allEnded()).at(-1)).toEqual({ attempt: 2, state: 'Succeeded' });
  }, 60_000);
});

describe('webhook fan-out: every event gets exactly one message', () => {
  test('when the relaying process is killed inside its transaction (R-I8, R-K3)', async () => {
    await subscribe();
    const sites = await createSites(20);
    await whileLocked(async () => {
      const victim = await start('ingester');
      await isWaiting('%for key share of webhook%');
      await victim.kill();
    });
    expect(await storedSites()).toEqual([]);
    await Promise.all([start('ingester'), start('deliverer')]);
    await eventually('the messages', async () => (await storedSites()).length >= sites.length);
    await expectAllDelivered(sites);
    expect(await allEnded()).toHaveLength(sites.length);
  }, 60_000);

  test('when the relaying process and the deliverer are killed three times (R-I8, R-K3)', async () => {
    await subscribe();
    const sites: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const victims = await Promise.all([start('ingester'), start('deliverer')]);
      const before = receiver.received.length;
      if (round === 2) receiver.answer('hang', 200);
      sites.push(...(await createSites(25)));
      if (round === 2) await receiver.waitFor(before + 1);
      await Promise.all(victims.map((victim) => victim.kill()));
    }
    // This test does not end the leases and Redis locks of the killed deliverers; it waits until they expire.
    await Promise.all([start('ingester'), start('deliverer')]);
    await expectAllDelivered(sites);
    await allEnded();
  }, 90_000);
});

test('webhook delivery: a deliverer that loses its database connection while it waits for the response of a receiver still delivers every event (R-K3)', async () => {
  await subscribe();
  const gate = await openTcpGate(world.environment.DATABASE_URL ?? '');
  receiver.answer('hang', 200);
  const sites = await createSites(5);
  await start('deliverer', { DATABASE_URL: gate.url });
  await receiver.waitFor(1);
  await gate.shut();
  const later = await createSites(5);
  await gate.open();
  await expectAllDelivered([...sites, ...later]);
  await allEnded();
  await gate.shut();
}, 60_000);

test("webhook delivery: a deliverer whose clock is an hour ahead of the database's clock signs with the database's time and logs that the clocks differ (R-I3)", async () => {
  await subscribe();
  const ahead = 'data:text/javascript,const now = Date.now; Date.now = () => now() + 3600000;';
  const deliverer = await start('deliverer', { NODE_OPTIONS: `--import "${ahead}"` });
  const sites = await createSites(1);
  await expectAllDelivered(sites);
  expect(deliverer.log()).toContain('the clock of this machine differs from the clock of the database');
}, 60_000);

test('webhook delivery: events that occur while the deliverer cannot reach Redis are delivered after it reconnects (R-K3)', async () => {
  await subscribe();
  const gate = await openTcpGate(world.environment.REDIS_URL ?? '');
  await start('deliverer', { REDIS_URL: gate.url });
  const sites = [...(await createSites(2))];
  await receiver.waitFor(2);
  await gate.shut();
  sites.push(...(await createSites(5)));
  await eventually('the messages to be stored', async () => (await storedSites()).length === sites.length);
  await gate.open();
  await expectAllDelivered(sites);
  await gate.shut();
}, 60_000);

test('webhook delivery: after SIGTERM the deliverer releases its claims and exits with code 0 (R-K2)', async () => {
  await subscribe();
  receiver.answer('hang');
  await createSites(30);
  const first = await start('deliverer', { SHUTDOWN_TIMEOUT_MS: '3000' });
  await receiver.waitFor(1);
  expect(await first.kill('SIGTERM')).toBe(0);
  expect(first.log()).toContain('"msg":"stopped"');
  const { rows } = await world.database.query(
    `select from webhook_attempt where webhook_id = $1 and state = 'Pending' and claimed_until > now()`,
    [webhookId],
  );
  expect(rows).toEqual([]);
}, 60_000);
