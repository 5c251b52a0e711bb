/**
 * Kills an api or ingester process in the middle of a transaction (R-K3, R-D1). A lock that the test holds keeps the
 * transaction open.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type ApiClient, signIn } from '../../support/fixtures/sign-in.ts';
import { createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';
import { createStoredWorld, type StoredWorld } from '../../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../../support/services/role-process.ts';
import { BEGIN_HOLDING } from '../../support/services/stack.ts';

const BATCHES = 40;
const READINGS = 250;
const READINGS_DIRECT = 1500;

let world: StoredWorld;
let front: RoleProcess;
let api: ApiClient;
let sourceId: number;
const workers: RoleProcess[] = [];

beforeAll(async () => {
  world = await createStoredWorld();
  front = await startRoles(['api'], world.environment);
  api = await signIn(front.http);
  ({ sourceId } = await createSiteAndSource(api));
}, 60_000);

afterAll(async () => {
  await Promise.all([...workers, front].map((process) => process?.kill()));
  await world?.close();
});

async function start(role: 'api' | 'ingester'): Promise<RoleProcess> {
  const process = await startRoles([role], world.environment);
  workers.push(process);
  return process;
}

async function count(query: string, ...values: unknown[]): Promise<number> {
  const { rows } = await world.database.query<{ count: number }>(query, values);
  return rows[0]?.count ?? 0;
}

/**
 * Pushes `BATCHES` batches of new dates, without a VersionTag, to a versioned variable; every second batch is pushed
 * twice.
 */
async function pushMany(variableId: number): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const data = Array.from({ length: READINGS }, (_, index) => ({
      date: new Date(Date.UTC(2026, 0, 1) + (batch * READINGS + index) * 900_000).toISOString(),
      value: batch,
    }));
    for (let push = 0; push <= (batch + 1) % 2; push += 1) await api.call('POST', '/api/data', [{ variableId, data }]);
  }
}

describe('push: an api killed during its direct write of a large push', () => {
  // The trigger makes the commit wait for a lock that the test holds. The trigger also turns off the database's check
  // for disconnected clients, because this check would end the waiting commit.
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

  test('stores nothing if killed before the commit; the push can then be sent again (R-D1, R-D7)', async () => {
    const push = await preparePush('before');
    const { rows } = await world.database.query<{ turn: string }>(
      `select account_id || ' ' || user_id as turn from account_member`,
    );
    await killWhileWaiting(push, ['hashtextextended($1, 0)', rows[0]?.turn], 'select pg_advisory_xact_lock(hashtext%');
    expect(await push.stored()).toEqual({ points: 0, versions: 0, operations: 0, batches: 0, events: 0 });
    await push.sendAgain();
    expect(await push.stored()).toEqual({ points: READINGS_DIRECT, versions: 0, operations: 1, batches: 0, events: 1 });
  }, 60_000);

  test('has stored the push once if the kill came after the commit was sent, even when the client repeats the push (R-D1, R-D7)', async () => {
    const push = await preparePush('after');
    await killWhileWaiting(push, ['$1::int', 42], 'commit');
    const once = { points: READINGS_DIRECT, versions: 0, operations: 1, batches: 0, events: 1 };
    await eventually('the commit', async () => (await push.stored()).points > 0);
    expect(await push.stored()).toEqual(once);
    await push.sendAgain();
    expect(await push.stored()).toEqual(once);
  }, 60_000);
});

/** Numbers of stored rows. */
interface Stored {
  readonly points: number;
  readonly versions: number;
  readonly operations: number;
  /** Number of waiting batches of all pushes, not only of this push. */
  readonly batches: number;
  readonly events: number;
}

interface LargePush {
  readonly send: (client: ApiClient) => Promise<unknown>;
  /** Sends the push again as a client does after a time-out: the same body under the same label, to a new process. */
  readonly sendAgain: () => Promise<void>;
  readonly stored: () => Promise<Stored>;
}

/**
 * Prepares a push of new dates that is large enough for a direct write. The variable is versioned: a second write of the
 * push would add versions, which the test would find.
 */
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

/**
 * Sends the push to a new api process. Kills the process while its query waits for an advisory lock that the test
 * holds. `statement` is a LIKE pattern for this query.
 */
async function killWhileWaiting(push: LargePush, [key, value]: readonly unknown[], statement: string): Promise<void> {
  const victim = await start('api');
  const client = await signIn(victim.http);
  const blocker = await world.database.connect();
  try {
    await blocker.query(`${BEGIN_HOLDING}; set local statement_timeout = 0`);
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

describe('push: an ingester killed inside a transaction', () => {
  test('loses no accepted reading and writes no batch twice (R-D1, R-K3)', async () => {
    const variableId = await createVariable(api, sourceId, { isVersioned: true });
    // No ingester runs yet, so all accepted batches wait.
    await pushMany(variableId);
    const waiting = await count('select count(*) as count from push_batch');
    expect(waiting).toBe(BATCHES * 1.5);
    const stored = () => count('select count(*) as count from point where variable_id = $1', variableId);
    const victim = await start('ingester');
    // The transaction is so short that a kill at an arbitrary moment would miss it. So the test blocks the transaction
    // before the kill.
    await killInsideWrite(victim);
    expect(await count('select count(*) as count from push_batch')).toBeGreaterThan(0);
    await start('ingester');
    await eventually(
      'all batches',
      async () => (await count('select count(*) as count from push_batch')) === 0,
      25_000,
    );
    expect(await stored()).toBe(BATCHES * READINGS);
    // Without a VersionTag, each further write of a date keeps the previous value as an earlier version. So each date
    // that was pushed twice has one earlier version. If the ingesters had written a batch twice, there would be more.
    expect(await count('select count(*) as count from point_version where variable_id = $1', variableId)).toBe(
      (BATCHES / 2) * READINGS,
    );
    const { rows } = await world.database.query('select distinct state from push_operation');
    expect(rows).toEqual([{ state: 'Completed' }]);
  }, 60_000);
});

/** Locks a table so that the ingester waits at the end of a batch. Kills the ingester and releases the lock. */
async function killInsideWrite(victim: RoleProcess): Promise<void> {
  const blocker = await world.database.connect();
  try {
    await blocker.query(BEGIN_HOLDING);
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
