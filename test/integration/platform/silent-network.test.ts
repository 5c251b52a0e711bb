/**
 * The service recovers by itself when connections fail or fall silent, and when a process is suspended (R-A15, R-K3).
 * The tests run concurrently, because they mostly wait.
 */
import { describe, expect, test } from 'vitest';
import { queueMail } from '../../../src/platform/mail/mail-outbox.ts';
import { openMailbox } from '../../support/doubles/mailbox.ts';
import { openReceiver, SECRET, type WebhookReceiver } from '../../support/doubles/webhook-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { type ApiClient, signIn } from '../../support/fixtures/sign-in.ts';
import { calculated, createSite, createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';
import { createStoredWorld, type StoredWorld } from '../../support/fixtures/world.ts';
import { type GatedService, startGatedService } from '../../support/services/gated-service.ts';
import { type RoleProcess, startRoles } from '../../support/services/role-process.ts';
import { BEGIN_HOLDING, testRRoot } from '../../support/services/stack.ts';

const TEST_MS = 120_000;
const WEBHOOK_SETTINGS = { WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8' };

async function withService(
  work: (service: GatedService) => Promise<void>,
  ...options: Parameters<typeof startGatedService>
): Promise<void> {
  const service = await startGatedService(...options);
  try {
    await work(service);
  } finally {
    await service.close();
  }
}

async function subscribe(api: ApiClient, eventType: string): Promise<WebhookReceiver> {
  const receiver = await openReceiver();
  await api.call('POST', '/account/webhooks', { name: 'silence', url: receiver.url, eventType, secret: SECRET });
  return receiver;
}

describe.concurrent('network faults', () => {
  test(
    'another process takes over all work of a suspended process (R-D6, R-I3, R-I7, R-I8, R-H5, R-B10)',
    async () => {
      const suspended = await startSuspendedRoles();
      try {
        await suspended.expectTakeOver();
      } finally {
        await suspended.close();
      }
    },
    TEST_MS,
  );

  test(
    'pushes get 503 while the database is down; within 25 s after the outage, a new push is accepted and its calculation has run (R-A5, R-A9, R-K3)',
    () =>
      withService(async ({ api, databaseGate, expectReadiness, readiness, ...service }) => {
        await databaseGate.shut();
        await expectReadiness('down');
        expect(await readiness()).toMatchObject({ checks: { database: 'down' } });
        const refused = await service.push();
        expect(refused).toMatchObject({ status: 503, body: { code: 'dependency_unavailable' } });
        expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
        expect((await api.get('/health/live')).status).toBe(200);
        await databaseGate.open();
        await service.expectPushToBeComputed(25_000);
        await expectReadiness('up');
        databaseGate.freeze();
        await service.expectPushToBeComputed(25_000);
        expect(service.roles.log()).toContain('unresponsive database connections were closed');
      }),
    TEST_MS,
  );

  test(
    'when the open database connections stop answering, a push is still accepted and its calculation still runs, and SIGTERM ends the process within 10 s (R-K2)',
    () =>
      withService(async ({ roles, databaseGate, expectPushToBeComputed }) => {
        databaseGate.freeze('answers');
        await expectPushToBeComputed(25_000);
        databaseGate.freeze();
        const beganMs = performance.now();
        expect(await roles.kill('SIGTERM')).toBe(0);
        expect(performance.now() - beganMs).toBeLessThan(10_000);
        expect(roles.log()).toContain('"msg":"stopped"');
      }),
    TEST_MS,
  );

  test(
    'if a push is accepted while Redis is down, its calculation runs when Redis is back (R-K3)',
    () =>
      withService(async ({ redisGate, expectReadiness, ...service }) => {
        await service.push();
        await service.expectComputed(2);
        await redisGate.shut();
        await expectReadiness('degraded');
        expect(await service.push()).toMatchObject({ status: 200, body: { accepted: { readings: 1 } } });
        await redisGate.open();
        await service.expectComputed(2, 4);
        await expectReadiness('up');
        redisGate.freeze();
        await service.expectPushToBeComputed(15_000);
        await expectReadiness('up');
      }),
    TEST_MS,
  );

  test(
    'without Redis, the processes find their work by polling: pushes are ingested, their calculations run, and webhooks get their messages; the service is degraded, not down (R-K3, R-I3)',
    () =>
      withService(
        async ({ api, roles, redisGate, readiness, expectReadiness, expectPushToBeComputed }) => {
          const receiver = await subscribe(api, 'DataPushCompleted');
          const startMs = performance.now();
          await redisGate.shut();
          await expectReadiness('degraded');
          for (let count = 1; count <= 3; count += 1) {
            await expectPushToBeComputed(20_000);
            await receiver.waitFor(count);
          }
          expect(await readiness()).toMatchObject({ checks: { queue: 'down', database: 'up', progress: 'up' } });
          // The log has at most one warning per minute for each connection to Redis. The member `purpose` names the
          // connection.
          const lines = roles.log().split('\n');
          const purposes = lines
            .filter((line) => line.includes('"purpose":'))
            .map((line): string => JSON.parse(line).purpose);
          expect(purposes.length).toBeGreaterThan(0);
          const minutes = Math.ceil((performance.now() - startMs) / 60_000);
          for (const purpose of new Set(purposes)) {
            expect(purposes.filter((each) => each === purpose).length, purpose).toBeLessThanOrEqual(minutes);
          }
          await redisGate.open();
          await expectReadiness('up');
          await expectPushToBeComputed(15_000);
          await receiver.close();
        },
        ['deliverer'],
        WEBHOOK_SETTINGS,
      ),
    TEST_MS,
  );
});

/** Maximum time until another process takes over the work. The limit assumes that a process starts within a second. */
const TAKE_OVER_MS = 10_000;
/**
 * Time limit for the take-over in milliseconds: TAKE_OVER_MS, or longer on a busy machine.
 * @param startMs start-up time, in milliseconds, of the process that takes over.
 */
const takeOverMs = (startMs: number) => Math.max(TAKE_OVER_MS, 6000 + 3 * startMs);
/** The runs of the slow variable sleep until this many milliseconds after the creation of the variable. */
const RUN_MS = 30_000;

/**
 * Starts an api process and a second process with all roles except grpc. `expectTakeOver` suspends the second process
 * in the middle of its work. Until then, locked rows, a sleeping run and silent receivers keep the work from ending.
 */
async function startSuspendedRoles() {
  const world = await createStoredWorld();
  // No mail server is configured for this process, so the other processes send all emails.
  const apiRole = await startRoles(['api'], { ...world.environment, ...WEBHOOK_SETTINGS });
  const sends = await openHangingSends(world);
  const environment = {
    SMTP_URL: sends.smtpUrl,
    ...{ ...world.environment, ...WEBHOOK_SETTINGS, R_ROOT: testRRoot() },
    // The sweep interval has its default value. The long webhook time-out does not delay the take-over, because no
    // lease depends on this time-out.
    ...{ SWEEP_INTERVAL_MS: '2000', WEBHOOK_TIMEOUT_MS: '60000' },
  };
  const workers: RoleProcess[] = [];
  let release = async (): Promise<void> => {};
  const start = async () => {
    const worker = await startRoles(['api', 'ingester', 'calculator', 'deliverer'], environment);
    workers.push(worker);
    return worker;
  };
  const suspend = async ({ pid }: RoleProcess) => void process.kill(pid, 'SIGSTOP');
  const api = await signIn(apiRole.http);
  const victim = await start();
  const receiver = await subscribe(api, 'SiteCreated');
  // The slow run ends RUN_MS after the creation of its variable. Starting a process takes many seconds on a busy
  // machine, so the variable is created only after `victim` has started.
  const fixture = await createSlowCalculation(api);

  const fillHands = async (): Promise<void> => {
    receiver.answer('hang', 200);
    await createSite(api);
    await fixture.push(fixture.slowInput, 1);
    await receiver.waitFor(2);
    await sends.begin(api);
    await eventually('the run', async () => (await fixture.runStates())[0] === 'Running');
    release = await holdRows(world, fixture.input);
    await fixture.push(fixture.input, 2);
    await createSite(api);
    await eventually('ingest and relay to wait', async () => (await countWaiting(world)) >= 2);
  };
  return {
    expectTakeOver: async () => {
      await fixture.push(fixture.input, 1);
      await fixture.expectValue(fixture.input, 1, 20_000);
      // The first delivery reports the event SiteCreated for the site of the fixture.
      await receiver.waitFor(1);
      await fillHands();
      // `victim` is not suspended yet and renews its claims, so the process started here finds nothing to do.
      const startedMs = performance.now();
      await start();
      const withinMs = takeOverMs(performance.now() - startedMs);
      expect(await fixture.runStates()).toEqual(['Running']);
      expect(receiver.received.length).toBe(2);
      const hanging = receiver.received[1]?.id;
      await suspend(victim);
      await release();
      const sites = () => new Set(receiver.received.map(({ body }) => (body.data as { id: number }).id));
      const isSentAgain = async () => receiver.received.filter(({ id }) => id === hanging).length === 2;
      await Promise.all([
        fixture.expectValue(fixture.input, 2, withinMs),
        eventually('an event of each site', async () => sites().size === 3, withinMs),
        eventually('the attempt to be sent again', isSentAgain, withinMs),
        sends.expectRepeated(api, withinMs),
        eventually(
          'the run to be repeated',
          async () => /^(Running|Succeeded),Abandoned$/.test((await fixture.runStates()).join()),
          withinMs,
        ),
      ]);
      await fixture.expectValue(fixture.slow, 2, RUN_MS + withinMs);
      // The resumed process finds that its locks are lost, and keeps running.
      process.kill(victim.pid, 'SIGCONT');
      await sends.expectFenced(api, victim);
      await fixture.push(fixture.input, 3);
      await fixture.expectValue(fixture.input, 3, 20_000);
      expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(3);
    },
    close: async () => {
      await Promise.all([...workers, apiRole].map((worker) => worker.kill()));
      await release();
      await receiver.close();
      await sends.close();
      await world.close();
    },
  };
}

/**
 * Opens a mail server that does not answer the first email, and a webhook receiver that does not answer the first trial
 * send. Later, `expectFenced` makes the mail server refuse this email, and cuts the connection of this trial send.
 */
async function openHangingSends({ database }: StoredWorld) {
  const [mailbox, receiver] = [await openMailbox(), await openReceiver()];
  const to = 'suspended@x.example';
  const refuse = mailbox.hang();
  let trialPath = '';
  receiver.answer('hang', 200);
  const trialState = async (api: ApiClient) => (await api.call<{ state: string }>('GET', trialPath)).state;
  const mailState = async () =>
    (await database.query<{ state: string }>('select state from mail where to_address = $1', [to])).rows[0]?.state;
  return {
    smtpUrl: mailbox.url,
    begin: async (api: ApiClient) => {
      const data = { name: 'N', userName: 'n', date: 'today' };
      await queueMail(database, { kind: 'password_changed', to, language: 'en', data });
      const trial = { url: receiver.url, eventType: 'SiteCreated', secret: SECRET };
      trialPath = `/account/webhooks/test/${(await api.call<{ id: string }>('POST', '/account/webhooks/test', trial)).id}`;
      await Promise.all([mailbox.next(to), receiver.waitFor(1)]);
    },
    expectRepeated: (api: ApiClient, withinMs: number) =>
      Promise.all([
        eventually('the email to be sent again', async () => (await mailState()) === 'Sent', withinMs),
        eventually('the trial to be sent again', async () => (await trialState(api)) === 'Succeeded', withinMs),
      ]),
    expectFenced: async (api: ApiClient, victim: RoleProcess) => {
      refuse(550);
      receiver.disconnect();
      const hasDropped = async () =>
        ['sending an email', 'a trial send'].every((it) => victim.log().includes(`the result of ${it} is dropped`));
      await eventually('the results of the suspended process to be dropped', hasDropped);
      expect([await mailState(), await trialState(api)]).toEqual(['Sent', 'Succeeded']);
      expect([mailbox.mails.length, receiver.received.length]).toEqual([2, 2]);
    },
    close: () => Promise.all([mailbox.close(), receiver.close()]),
  };
}

async function createSlowCalculation(api: ApiClient) {
  const { sourceId } = await createSiteAndSource(api);
  const [input, slowInput] = [await createVariable(api, sourceId), await createVariable(api, sourceId)];
  const endSec = (Date.now() + RUN_MS) / 1000;
  const script = `
    Sys.sleep(max(0, ${endSec} - as.numeric(Sys.time())))
    ts <- inputVariables$a$TimeSeries; list(TimeSeries = data.frame(Dates = ts$Dates, Values = 2 * ts$Values))`;
  const inputs = [{ alias: 'a', variableId: slowInput, period: 1, periodTimeBase: 'Minute' }];
  const slow = await createVariable(api, sourceId, { calculated: calculated(script, inputs) });
  return {
    ...{ input, slowInput, slow },
    push: async (variableId: number, value: number) => {
      const body = [{ variableId, data: [{ date: '2026-03-01T00:00:00Z', value }] }];
      expect((await api.post('/api/data', body)).status).toBe(200);
    },
    expectValue: async (variableId: number, value: number, withinMs: number) => {
      const read = () => api.call<{ rawValue: number }[]>('GET', `/data?variableId=${variableId}`);
      await eventually(`value ${value}`, async () => (await read())[0]?.rawValue === value, withinMs);
    },
    /** States of the runs of the slow variable, newest first. */
    runStates: async () =>
      (await api.call<{ state: string }[]>('GET', `/variables/${slow}/runs`)).map(({ state }) => state),
  };
}

/**
 * Locks rows, so that the ingest of a variable and the relay of events wait.
 * @returns a function that releases the locks.
 */
async function holdRows({ database }: StoredWorld, variableId: number): Promise<() => Promise<void>> {
  const holder = await database.connect();
  await holder.query(BEGIN_HOLDING);
  await holder.query('select from series where variable_id = $1 for update', [variableId]);
  await holder.query('select from webhook for update');
  let isReleased = false;
  return async () => {
    if (isReleased) return;
    isReleased = true;
    await holder.query('commit');
    holder.release();
  };
}

async function countWaiting({ database }: StoredWorld): Promise<number> {
  const { rowCount } = await database.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rowCount ?? 0;
}
