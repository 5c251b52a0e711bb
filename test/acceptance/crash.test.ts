/** Processes that die while work waits or is under way: nothing is lost and nothing happens twice (R-K3, R-D1, R-H5). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type ApiClient, calculated, createSource, createVariable, signIn } from '../support/fixtures/sign-in.ts';
import { createWorld, type World } from '../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../support/services/role-process.ts';
import { forgetJobs, testRRoot } from '../support/services/stack.ts';

const BATCHES = 40;
const READINGS = 250;
const READINGS_DIRECT = 1500;

let world: World;
let doors: RoleProcess;
let api: ApiClient;
let sourceId: number;
const workers: RoleProcess[] = [];

beforeAll(async () => {
  world = await createWorld();
  doors = await startRoles(['api'], world.environment);
  api = await signIn(doors.http);
  ({ sourceId } = await createSource(api));
}, 60_000);

afterAll(async () => {
  await Promise.all([...workers, doors].map((process) => process?.kill()));
  await world?.close();
});

async function start(role: 'api' | 'ingester' | 'calculator'): Promise<RoleProcess> {
  const process = await startRoles([role], { ...world.environment, R_ROOT: testRRoot() });
  workers.push(process);
  return process;
}

async function count(query: string, ...values: unknown[]): Promise<number> {
  const { rows } = await world.database.query<{ count: number }>(query, values);
  return rows[0]?.count ?? 0;
}

/** Pushes `BATCHES` batches of new dates to a versioned variable; every second one is pushed again under its tag. */
async function pushMany(variableId: number): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const data = Array.from({ length: READINGS }, (_, index) => ({
      date: new Date(Date.UTC(2026, 0, 1) + (batch * READINGS + index) * 900_000).toISOString(),
      value: batch,
    }));
    for (const version of batch % 2 === 0 ? ['V1', 'V2'] : ['V1']) {
      await api.call('POST', '/api/data', [{ variableId, version, data }]);
    }
  }
}

describe('an api killed while it writes a large push itself', () => {
  // What its commit waits for is in the hands of the test, and it does not look whether its client is still there.
  beforeAll(async () => {
    await world.database.query(`
      create function wait_for_test() returns trigger language plpgsql as $$
      begin
        perform set_config('client_connection_check_interval', '0', true), set_config('lock_timeout', '0', true);
        perform pg_advisory_xact_lock(42);
        return null;
      end $$;
      create constraint trigger wait_for_test after update on push_operation
        deferrable initially deferred for each row execute function wait_for_test()`);
  });
  afterAll(() => world.database.query('drop trigger wait_for_test on push_operation'));

  test('before its commit: nothing is stored, and what is sent again is stored once (R-D1, R-D7)', async () => {
    const push = await preparePush('before');
    const { rows } = await world.database.query<{ turn: string }>(
      `select account_id || ' ' || user_id as turn from account_member`,
    );
    await killWhileWaiting(push, ['hashtextextended($1, 0)', rows[0]?.turn], 'select pg_advisory_xact_lock(hashtext%');
    expect(await push.stored()).toEqual({ points: 0, versions: 0, operations: 0, batches: 0, events: 0 });
    await push.sendAgain();
    expect(await push.stored()).toEqual({ points: READINGS_DIRECT, versions: 0, operations: 1, batches: 0, events: 1 });
  }, 60_000);

  test('after its commit, before its answer: what is sent again is the same push (R-D1, R-D7)', async () => {
    const push = await preparePush('after');
    await killWhileWaiting(push, ['$1::int', 42], 'commit');
    const once = { points: READINGS_DIRECT, versions: 0, operations: 1, batches: 0, events: 1 };
    await eventually('the commit', async () => (await push.stored()).points > 0);
    expect(await push.stored()).toEqual(once);
    await push.sendAgain();
    expect(await push.stored()).toEqual(once);
  }, 60_000);
});

/** How many there are of it. */
interface Stored {
  readonly points: number;
  readonly versions: number;
  readonly operations: number;
  /** Of whatever push. */
  readonly batches: number;
  readonly events: number;
}

interface LargePush {
  readonly send: (client: ApiClient) => Promise<unknown>;
  /** As a client does after a time-out: the same body under the same label, to a new process. */
  readonly sendAgain: () => Promise<void>;
  readonly stored: () => Promise<Stored>;
}

/** New dates of a versioned variable, enough to be written as they are accepted: a repeat would leave versions. */
async function preparePush(label: string): Promise<LargePush> {
  const variableId = await createVariable(api, sourceId, { isVersioned: true });
  const data = Array.from({ length: READINGS_DIRECT }, (_, index) => ({
    date: new Date(Date.UTC(2026, 0, 1) + index * 900_000).toISOString(),
    value: index,
  }));
  const send = (client: ApiClient) => client.call('POST', `/api/data?operationId=${label}`, [{ variableId, data }]);
  return {
    send,
    sendAgain: async () => {
      const next = await start('api');
      const answer = await send(await signIn(next.http));
      expect(answer).toMatchObject({ operationId: label, accepted: { elements: 1, readings: READINGS_DIRECT } });
    },
    stored: async () => ({
      points: await count('select count(*) as count from point where variable_id = $1', variableId),
      versions: await count('select count(*) as count from point_version where variable_id = $1', variableId),
      operations: await count('select count(*) as count from push_operation where label = $1', label),
      batches: await count('select count(*) as count from push_batch'),
      events: await count(
        `select count(*) as count from outbox_event
         where type = 'DataPointsWritten' and payload @> jsonb_build_object('variables', jsonb_build_array(jsonb_build_object('variableId', $1::int)))`,
        variableId,
      ),
    }),
  };
}

/** Holds an advisory lock until the push waits for it, in a statement that is like `statement`; then kills the api. */
async function killWhileWaiting(push: LargePush, [key, value]: readonly unknown[], statement: string): Promise<void> {
  const victim = await start('api');
  const client = await signIn(victim.http);
  const blocker = await world.database.connect();
  try {
    await blocker.query(`begin; set local statement_timeout = 0`);
    await blocker.query(`select pg_advisory_xact_lock(${key})`, [value]);
    const answer = push.send(client).then(
      () => 'answered',
      () => 'cut off',
    );
    await eventually('the push to wait', async () => {
      const waiting = await count(
        `select count(*) as count from pg_stat_activity
         where wait_event_type = 'Lock' and wait_event = 'advisory' and query like $1 and datname = current_database()`,
        statement,
      );
      return waiting > 0;
    });
    await victim.kill();
    expect(await answer).toBe('cut off');
  } finally {
    await blocker.query('rollback');
    blocker.release();
  }
}

describe('an ingester killed in the middle of its work', () => {
  test('loses no accepted reading and writes none twice (R-D1, R-K3)', async () => {
    const variableId = await createVariable(api, sourceId, { isVersioned: true });
    // No ingester runs yet: everything accepted waits, as it would while one is down.
    await pushMany(variableId);
    const waiting = await count('select count(*) as count from push_batch');
    expect(waiting).toBe(BATCHES * 1.5);
    const stored = () => count('select count(*) as count from point where variable_id = $1', variableId);
    const victim = await start('ingester');
    // Small transactions would be over too soon to be hit: hold the write up, then kill whoever is in it.
    await killInsideWrite(victim);
    expect(await count('select count(*) as count from push_batch')).toBeGreaterThan(0);
    await start('ingester');
    await eventually(
      'all batches',
      async () => (await count('select count(*) as count from push_batch')) === 0,
      25_000,
    );
    expect(await stored()).toBe(BATCHES * READINGS);
    // One superseded V1 per date that also has V2; a batch written twice would have left more.
    expect(await count('select count(*) as count from point_version where variable_id = $1', variableId)).toBe(
      (BATCHES / 2) * READINGS,
    );
    const { rows } = await world.database.query('select distinct state from push_operation');
    expect(rows).toEqual([{ state: 'Completed' }]);
  }, 60_000);
});

/** Blocks the ingester's transaction at the end of a batch, kills it there, and lets go. */
async function killInsideWrite(victim: RoleProcess): Promise<void> {
  const blocker = await world.database.connect();
  try {
    await blocker.query('begin');
    await blocker.query('lock table push_operation in share mode');
    await eventually('the ingester to wait inside its transaction', async () => {
      const waiting = await count(
        `select count(*) as count from pg_stat_activity
         where wait_event_type = 'Lock' and query like 'select end_push_operations%' and datname = current_database()`,
      );
      return waiting > 0;
    });
    await victim.kill();
  } finally {
    await blocker.query('rollback');
    blocker.release();
  }
}

describe('a calculator killed in the middle of a run', () => {
  test('the run is taken up again, stores once, and the dead one is on record (R-H5, R-K3)', async () => {
    const [input, variable] = await createSlowVariable();
    const [victim] = await Promise.all([start('calculator'), start('ingester')]);
    await api.call('POST', '/api/data', [{ variableId: input, data: [{ date: '2026-03-01T00:00:00Z', value: 21 }] }]);
    await eventually('the run', () => isRunning(variable));
    await victim.kill();
    await forgetJobs(world.environment);
    expect(await count('select count(*) as count from point where variable_id = $1', variable)).toBe(0);
    await start('calculator');
    const rows = await eventually('the result', async () => {
      const found = await api.call<{ rawValue: number; version: string }[]>('GET', `/data?variableId=${variable}`);
      return found.length > 0 && found;
    });
    expect(rows).toMatchObject([{ rawValue: 42 }]);
    const { rows: runs } = await world.database.query(
      'select state, attempt from calculation_run where variable_id = $1 order by id',
      [variable],
    );
    expect(runs).toEqual([
      { state: 'Abandoned', attempt: 0 },
      { state: 'Succeeded', attempt: 1 },
    ]);
    expect(await count('select count(*) as count from point_version where variable_id = $1', variable)).toBe(0);
  }, 60_000);

  test('requests that wait while no calculator runs are kept, and merged into one run (R-H5)', async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.kill()));
    // The calculator of the test before is no matter of this one: its jobs are not waited for.
    await forgetJobs(world.environment);
    await start('ingester');
    const [input, variable] = await createSlowVariable();
    for (const hour of [0, 5, 2]) {
      const date = `2026-03-02T0${hour}:00:00Z`;
      await api.call('POST', '/api/data', [{ variableId: input, data: [{ date, value: hour }] }]);
      await eventually('the request', async () => isRequestedOver(variable, date));
    }
    await start('calculator');
    const runs = await eventually('the run', async () => {
      const found = await api.call<{ state: string; from: string; to: string }[]>('GET', `/variables/${variable}/runs`);
      return found[0]?.state === 'Succeeded' && found;
    });
    expect(runs).toMatchObject([{ from: '2026-03-02T00:00:00Z', to: '2026-03-02T05:00:00Z' }]);
    expect(runs).toHaveLength(1);
  }, 60_000);
});

/** An input and a versioned variable that doubles it, slowly enough to be caught at it. */
async function createSlowVariable(): Promise<readonly [input: number, variable: number]> {
  const input = await createVariable(api, sourceId);
  const script =
    'Sys.sleep(1); ts <- inputVariables$a$TimeSeries; list(TimeSeries = data.frame(Dates = ts$Dates, Values = 2 * ts$Values, Version = "one"))';
  const inputs = [{ alias: 'a', variableId: input, period: 1, periodTimeBase: 'Hour' }];
  const variable = await createVariable(api, sourceId, { isVersioned: true, calculated: calculated(script, inputs) });
  return [input, variable];
}

async function isRunning(variableId: number): Promise<boolean> {
  return (
    (await count(
      `select count(*) as count from calculation_run where variable_id = $1 and state = 'Running'`,
      variableId,
    )) > 0
  );
}

async function isRequestedOver(variableId: number, date: string): Promise<boolean> {
  return (
    (await count(
      'select count(*) as count from calculation_request where variable_id = $1 and $2::timestamptz between from_date and to_date',
      variableId,
      date,
    )) > 0
  );
}

test('SIGTERM ends a process in good order (R-K2)', async () => {
  const stop = async (role: 'ingester' | 'calculator') => {
    const process = await start(role);
    expect(await process.kill('SIGTERM')).toBe(0);
    expect(process.log()).toContain('"msg":"stopped"');
  };
  await Promise.all([stop('ingester'), stop('calculator')]);
}, 60_000);
