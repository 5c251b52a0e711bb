/**
 * Faults of the database under load (R-A15, R-A5). Each fault lasts FAULT_SEC seconds, by default 2. The long form of
 * the tests takes about an hour: `FAULT_SEC=900 npm test -- database-faults`.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type ApiClient, signIn } from '../../support/fixtures/sign-in.ts';
import { createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';
import { createStoredWorld, type StoredWorld } from '../../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../../support/services/role-process.ts';
import { type SmallDisk, startSmallDisk } from '../../support/services/small-disk.ts';

const FAULT_SEC = Number(process.env.FAULT_SEC ?? 2);
const RECOVERY_MS = 30_000;
// Time to process the files that queue up during a fault: uploads are accepted faster than they are processed.
const DRAIN_MS = 30_000 + FAULT_SEC * 1000;
const TEST_MS = 3 * FAULT_SEC * 1000 + 90_000;
const DRAIN_CHECK_MS = 100;
const KILL_INTERVAL_MS = 500;
const LOAD_PAUSE_MS = 20;
const CHECKPOINT_INTERVAL_MS = 10_000;
const PUSHERS = 4;
const UPLOADERS = 2;
const ROWS = 100;
const START_MS = Date.parse('2026-01-01T00:00:00Z');

const disk = await startSmallDisk();
let world: StoredWorld;
let roles: RoleProcess;
let api: ApiClient;
let variableIds: readonly number[];
// Frequent checkpoints free space in the write-ahead log. Otherwise, the log would fill the small disk in a long test.
const checkpoints = setInterval(() => void world?.database.query('checkpoint').catch(() => {}), CHECKPOINT_INTERVAL_MS);

beforeAll(async () => {
  world = await createStoredWorld(disk && { url: disk.url, drop: async () => {} });
  roles = await startRoles(['api', 'ingester'], { ...world.environment, API_RATE_PER_MINUTE: '1000000' });
  api = await signIn(roles.http);
  const { sourceId } = await createSiteAndSource(api);
  variableIds = await Promise.all(Array.from({ length: PUSHERS + UPLOADERS }, () => createVariable(api, sourceId)));
}, 60_000);

afterAll(async () => {
  clearInterval(checkpoints);
  await roles?.kill();
  await world?.close();
  await disk?.stop();
});

/** The readings and files that the service accepted (answered 200), and the number of refused requests. */
interface Ledger {
  /** Variable id → number of accepted readings. Their values are 0, 1, 2, …, and their dates are one minute apart. */
  readonly readings: Map<number, number>;
  readonly files: string[];
  refusals: number;
}

const ledger: Ledger = { readings: new Map(), files: [], refusals: 0 };

const dateOf = (index: number) => new Date(START_MS + index * 60_000).toISOString().replace('.000', '');

/**
 * @param answer answer to the request; undefined when the connection was closed, for example because the service
 *   refused the request before the whole body was sent.
 * @returns whether the request was accepted. An answer that refuses the request must be a 503 with Retry-After.
 */
function isAccepted(answer: Awaited<ReturnType<ApiClient['send']>> | undefined): boolean {
  if (answer?.status === 200) return true;
  ledger.refusals += 1;
  if (answer === undefined) return false;
  const { status, headers, body } = answer;
  expect({ status, body }).toEqual({
    status: 503,
    body: {
      code: 'dependency_unavailable',
      message: 'a dependency of the service is unavailable, or the service is busy; retry the request',
      requestId: expect.any(String),
    },
  });
  expect(headers.get('retry-after')).toMatch(/^\d+$/);
  return false;
}

const closed = (error: unknown): undefined => {
  if (!(error instanceof TypeError && error.message === 'fetch failed')) throw error;
};

/** Pushes one reading after another. When a push is not accepted, sends it again under the same operationId. */
async function pushWhile(isUnderLoad: () => boolean, variableId: number): Promise<void> {
  while (isUnderLoad()) {
    const value = ledger.readings.get(variableId) ?? 0;
    const body = [{ variableId, data: [{ date: dateOf(value), value }] }];
    const answer = await api.post(`/api/data?operationId=fault-${variableId}-${value}`, body).catch(closed);
    if (isAccepted(answer)) ledger.readings.set(variableId, value + 1);
    await pause(LOAD_PAUSE_MS);
  }
}

/** Uploads files one after another, each with ROWS rows. */
async function uploadWhile(isUnderLoad: () => boolean, variableId: number): Promise<void> {
  while (isUnderLoad()) {
    const first = ledger.readings.get(variableId) ?? 0;
    const rows = Array.from({ length: ROWS }, (_, row) => `${variableId},${dateOf(first + row)},${first + row}\n`);
    const raw = Buffer.from(`variable_id,date,value\n${rows.join('')}`);
    const headers = { 'content-type': 'text/csv' };
    const answer = await api
      .send<string>('POST', '/storage?filename=rows.csv', undefined, { raw, headers })
      .catch(closed);
    if (answer && isAccepted(answer)) {
      ledger.readings.set(variableId, first + ROWS);
      ledger.files.push(answer.body);
    }
    await pause(5 * LOAD_PAUSE_MS);
  }
}

/** Waits until one more file and one more push have been accepted. */
async function expectAcceptance(when: string): Promise<void> {
  const pushed = () => variableIds.slice(0, PUSHERS).reduce((sum, id) => sum + (ledger.readings.get(id) ?? 0), 0);
  const [files, readings] = [ledger.files.length, pushed()];
  const isAccepting = async () => ledger.files.length > files && pushed() > readings;
  await eventually(`an accepted file and push ${when}`, isAccepting, RECOVERY_MS);
}

/** Sends pushes and uploads before, during and after `fault`. @returns the number of requests that were refused. */
async function underLoad(fault: () => Promise<void>): Promise<number> {
  let isOver = false;
  const refusedBefore = ledger.refusals;
  const runFault = async (): Promise<void> => {
    await expectAcceptance('before the fault');
    await fault();
    await expectAcceptance('after the fault');
  };
  const load = variableIds.map((variableId, index) =>
    (index < PUSHERS ? pushWhile : uploadWhile)(() => !isOver, variableId),
  );
  await Promise.all([
    runFault().finally(() => {
      isOver = true;
    }),
    ...load,
  ]);
  return ledger.refusals - refusedBefore;
}

/** Waits until every row of the table is Completed; a file may also stay Uploading. A Failed row fails the test. */
async function expectCompletion(table: 'push_operation' | 'stored_file'): Promise<void> {
  // A file whose upload was cut off stays Uploading until it is purged.
  const text = `select state, count(*)::int from ${table} where state not in ('Completed', 'Uploading') group by state`;
  const deadlineMs = performance.now() + DRAIN_MS;
  for (;;) {
    const { rows } = await world.database.query<{ state: string; count: number }>(text);
    if (rows.length === 0) return;
    expect(rows.map(({ state }) => state)).not.toContain('Failed');
    if (performance.now() > deadlineMs) throw new Error(`${table}: not ended: ${JSON.stringify(rows)}`);
    await pause(DRAIN_CHECK_MS);
  }
}

/** Expects every accepted reading to be readable, and every file accepted since the previous check to be Completed. */
async function expectLedgerToHold(): Promise<void> {
  await expectCompletion('push_operation');
  await expectCompletion('stored_file');
  for (const [variableId, count] of ledger.readings) {
    const { body } = await api.get<{ rawValue: number }[]>(`/data?variableId=${variableId}`);
    // Only the first `count` rows are compared: a request whose answer was lost may have stored further rows.
    expect(body.slice(0, count).map(({ rawValue }) => rawValue)).toEqual(Array.from({ length: count }, (_, i) => i));
  }
  for (const fileId of ledger.files.splice(0)) {
    const { body } = await api.get(`/storage/${fileId}`);
    expect(body).toMatchObject({ state: 'Completed', counts: { ingested: ROWS, rejected: 0 } });
  }
}

const KILL = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and application_name like 'tidemark%'`;

/** @returns the number of killed sessions. */
async function killFor(durationMs: number): Promise<number> {
  let killed = 0;
  const deadlineMs = performance.now() + durationMs;
  while (performance.now() < deadlineMs) {
    killed += (await world.database.query(KILL)).rowCount ?? 0;
    await pause(KILL_INTERVAL_MS);
  }
  return killed;
}

// The trigger `slow` makes about half of the changes to these tables exceed a time-out of 30 ms. The trigger sets this
// time-out itself, because the service sets a longer one in each transaction.
const SLOW_TABLES = ['push_operation', 'push_batch', 'stored_file', 'outbox_event'];
const SLOW = `
  create function slow() returns trigger language plpgsql as $$ begin
    if random() < 0.5 then perform pg_sleep(0.06); end if;
    perform set_config('statement_timeout', '30', true);
    return null;
  end $$;
  ${SLOW_TABLES.map((table) => `create trigger slow after insert or update or delete on ${table} for each statement execute function slow();`).join('\n')}`;
const limitStatements = (value: string) =>
  `do $$ begin execute format('alter database %I set statement_timeout = ${value}', current_database()); end $$`;

async function timeOutFor(durationMs: number): Promise<void> {
  await world.database.query(limitStatements('30'));
  // The statement locks several tables; `eventually` repeats the statement after a deadlock.
  await eventually('the triggers', () => world.database.query(SLOW));
  await world.database.query(KILL);
  await pause(durationMs);
  await world.database.query(limitStatements('0'));
  // Dropping the triggers also locks the tables of SLOW_TABLES; `eventually` repeats the statement after a deadlock.
  await eventually('the end of the triggers', () => world.database.query('drop function if exists slow() cascade'));
  await world.database.query(KILL);
}

/** SQLSTATE disk_full in a log line of the service. */
const DISK_FULL = '"code":"53100"';
const FILL_ATTEMPTS = 5;
const FILL_MS = 8_000;

/**
 * Fills the disk until a statement of the service has failed and half of the duration is over. Then starts a new
 * segment of the write-ahead log and fills the disk again, so that the server crashes. Frees the disk at the end.
 */
async function fillFor(full: SmallDisk, durationMs: number): Promise<void> {
  await Promise.all([pause(durationMs / 2), fillUntilStatementFails(full)]);
  await world.database.query('select pg_switch_wal()').catch(() => {});
  full.fill();
  await pause(durationMs / 2);
  full.free();
}

/**
 * Fills the disk until a statement of the service fails. If the database server crashes instead, frees the disk and
 * tries again. The server crashes when the write-ahead log needs more space on the full disk. To make such crashes
 * rare, each attempt first starts a new segment of the log. A table then usually runs out of space before the log does.
 */
async function fillUntilStatementFails({ fill, free, restarts }: SmallDisk): Promise<void> {
  const { database } = world;
  const hasFailed = () => roles.log().includes(DISK_FULL);
  for (let attempt = 1; !hasFailed(); attempt += 1) {
    if (attempt > FILL_ATTEMPTS) throw new Error(`no statement found the disk full in ${FILL_ATTEMPTS} attempts`);
    await eventually('a new segment of the log', async () => {
      await database.query('select pg_switch_wal()');
      // `pg_switch_wal` only ends the old segment; the next write to the log creates the new one.
      return database.query(`select pg_logical_emit_message(true, 'test', '')`);
    });
    const before = restarts();
    fill();
    await eventually('a failed statement', async () => hasFailed() || restarts() > before, FILL_MS).catch(() => {});
    if (!hasFailed()) free();
  }
}

describe('database faults: no accepted push or file is lost or gets the state Failed', () => {
  test(
    'when sessions of the database are killed (R-A15, R-A5)',
    async () => {
      await underLoad(async () => expect(await killFor(FAULT_SEC * 1000)).toBeGreaterThan(0));
      await expectLedgerToHold();
    },
    TEST_MS,
  );

  test(
    'when statements time out (R-A15, R-A5)',
    async () => {
      expect(await underLoad(() => timeOutFor(FAULT_SEC * 1000))).toBeGreaterThan(0);
      expect(roles.log()).toContain('canceling statement due to statement timeout');
      await expectLedgerToHold();
    },
    TEST_MS,
  );

  test.skipIf(disk === undefined)(
    'when the disk is full for a time (R-A15, R-A5; only on machines where the test may mount a disk)',
    async () => {
      expect(await underLoad(() => fillFor(disk as SmallDisk, FAULT_SEC * 1000))).toBeGreaterThan(0);
      expect(roles.log()).toContain(DISK_FULL);
      await expectLedgerToHold();
    },
    TEST_MS,
  );
});
