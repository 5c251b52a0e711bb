/**
 * The test holds a lock that delays a write. Pushes to other variables overtake the write; pushes to the same variable
 * wait.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Connection } from '../../../src/platform/database/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type ApiClient, signIn } from '../../support/fixtures/sign-in.ts';
import { addStoredVariables } from '../../support/fixtures/stored-structure.ts';
import { createSiteAndSource } from '../../support/fixtures/structure.ts';
import { createStoredWorld, type StoredWorld } from '../../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../../support/services/role-process.ts';
import { BEGIN_HOLDING } from '../../support/services/stack.ts';

/** A batch with this number of readings is large. */
const LARGE = 21_000;
const START = Date.UTC(2026, 0, 1);

let world: StoredWorld;
let front: RoleProcess;
let ingester: RoleProcess;
let api: ApiClient;
let blocker: Connection;
let sourceId: number;
/** The variables of each push, by its `operationId`. */
const pushed = new Map<string, readonly number[]>();

beforeAll(async () => {
  world = await createStoredWorld();
  [front, ingester] = await Promise.all([
    startRoles(['api'], world.environment),
    startRoles(['ingester'], world.environment),
  ]);
  api = await signIn(front.http);
  ({ sourceId } = await createSiteAndSource(api));
  blocker = await world.database.connect();
}, 60_000);

afterAll(async () => {
  blocker?.release(true);
  await Promise.all([front?.kill(), ingester?.kill()]);
  await world?.close();
});

/** Adds versioned variables with one point each. */
async function addVariables(count: number): Promise<readonly number[]> {
  const { accountId, database } = world;
  const ids = await addStoredVariables(database, { accountId, sourceId }, { count, isVersioned: true });
  await push(ids, 0);
  await areReadable(ids, 0);
  return ids;
}

/** @param readings how many readings to push for each variable, all with the same value. */
async function push(variableIds: readonly number[], value: number, readings = 1): Promise<void> {
  const data = Array.from({ length: readings }, (_, index) => {
    return { date: new Date(START + index * 900_000).toISOString(), value };
  });
  const elements = variableIds.map((variableId) => ({ variableId, data }));
  const { operationId } = await api.call<{ operationId: string }>('POST', '/api/data', elements);
  pushed.set(operationId, variableIds);
}

/** Creates a webhook that is notified when a push to this variable ends. @returns its id. */
async function subscribe(variableId: number): Promise<string> {
  const webhook = { name: 'w', url: 'https://receiver.example/', eventType: 'DataPushCompleted' };
  const created = await api.call<{ id: string }>('POST', '/account/webhooks', {
    ...webhook,
    filter: { variableIds: [variableId] },
  });
  return created.id;
}

/** @returns the `operationId` of every push whose end was announced to the webhook, in ascending order. */
async function announcedTo(webhookId: string): Promise<readonly string[]> {
  const { rows } = await world.database.query<{ id: string }>(
    `select data ->> 'operationId' as id from webhook_event where webhook_id = $1 order by id`,
    [webhookId],
  );
  return rows.map(({ id }) => id);
}

/** @returns the value of each variable at START, in the order of the variables. */
async function read(variableIds: readonly number[]): Promise<readonly number[]> {
  const query = `variableIds=${variableIds.join()}&to=${new Date(START + 1).toISOString()}`;
  type Row = { readonly variableId: number; readonly rawValue: number };
  const rows = await api.call<readonly Row[]>('GET', `/data?${query}`);
  return variableIds.map((id) => rows.find(({ variableId }) => variableId === id)?.rawValue ?? Number.NaN);
}

const areReadable = (ids: readonly number[], value: number) =>
  eventually(`value ${value} of ${ids}`, async () => (await read(ids)).every((one) => one === value));

/** @returns the values of all versions at START, oldest version first. */
async function versionsOf(variableId: number): Promise<readonly number[]> {
  const { rows } = await world.database.query<{ value: number }>(
    `select value from (select * from point union all select * from point_version) stored
     where variable_id = $1 and date = $2 order by version_timestamp`,
    [variableId, new Date(START).toISOString()],
  );
  return rows.map(({ value }) => value);
}

const hold = (variableId: number) =>
  blocker.query('select from series where variable_id = $1 for update', [variableId]);

/**
 * Waits until `count` writes wait for the lock that the test holds.
 * @param since counts only writes on connections that were opened after this time.
 */
const areHeld = (count: number, since = '-infinity') =>
  eventually(`${count} writes at the lock`, async () => {
    const { rows } = await world.database.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into series (%'
         and backend_start > $1`,
      [since],
    );
    return rows[0]?.count === count;
  });

/**
 * Sends pushes concurrently until small pushes to both variables share a batch.
 * @returns the lowest value of the last round of pushes.
 */
async function pushIntoOneBatch(variableIds: readonly [number, number]): Promise<number> {
  for (let value = 10; ; value += 10) {
    await Promise.all(
      Array.from({ length: 10 }, (_, index) => push([variableIds[index % 2] ?? 0], value + Math.floor(index / 2))),
    );
    const { rowCount } = await world.database.query(
      'select from push_batch where variables @> $1::int and variables @> $2::int',
      [variableIds[0], variableIds[1]],
    );
    if ((rowCount ?? 0) > 0) return value;
  }
}

describe('push: while one push of an account rewrites stored points', () => {
  test('a small push to another variable does not wait, even if it is in the same batch as a push to the variable whose points are rewritten (R-D6, R-I2)', async () => {
    const [rewritten = 0, other = 0] = await addVariables(2);
    const webhooks = [await subscribe(rewritten), await subscribe(other)];
    pushed.clear();
    await blocker.query(BEGIN_HOLDING);
    await hold(rewritten);
    await push([rewritten], 1, LARGE);
    await areHeld(1);
    const value = await pushIntoOneBatch([rewritten, other]);
    const isOfLast = (one: number) => one >= value && one < value + 5;
    await eventually('a value of the last pushes', async () => (await read([other])).every(isOfLast));
    await eventually('no batch with the other variable', async () => {
      const found = await world.database.query('select from push_batch where variables @> $1::int', [other]);
      return found.rowCount === 0;
    });
    expect(await read([rewritten])).toEqual([0]);
    await blocker.query('commit');
    await eventually('a value of the last pushes', async () => (await read([rewritten])).every(isOfLast));
    await eventually('ended operations', async () => {
      const open = await world.database.query(
        `select from push_operation where state not in ('Completed', 'Rejected')`,
      );
      return open.rowCount === 0;
    });
    const pushesTo = (id: number) =>
      [...pushed].flatMap(([operationId, ids]) => (ids.includes(id) ? [operationId] : []));
    const expected = [rewritten, other].map((id) => pushesTo(id).sort());
    await eventually('announcements of every push', async () => {
      const announced = await Promise.all(webhooks.map(announcedTo));
      return announced.flat().length >= pushed.size;
    });
    expect(await Promise.all(webhooks.map(announcedTo))).toEqual(expected);
    const [ofRewritten = [], ofOther = []] = await Promise.all([rewritten, other].map(versionsOf));
    // No two pushes give a variable the same value, so a value that appears twice means that a push was written twice.
    for (const versions of [ofRewritten, ofOther]) {
      expect(versions.length).toBeGreaterThan(5);
      expect(new Set(versions).size).toBe(versions.length);
    }
  }, 60_000);

  test('pushes to unrelated variables do not wait, even after the ingester is killed and restarted (R-D6, R-D1)', async () => {
    const [rewritten = 0, alsoRewritten = 0, other = 0, partner = 0] = await addVariables(4);
    await blocker.query(BEGIN_HOLDING);
    await hold(rewritten);
    await push([rewritten], 1, LARGE);
    await areHeld(1);
    await push([other], 1);
    await areReadable([other], 1);

    await push([rewritten], 2);
    await push([rewritten, partner], 3);
    await push([partner], 4);
    await push([other], 2);
    await areReadable([other], 2);
    expect(await read([rewritten, partner])).toEqual([0, 0]);

    await hold(alsoRewritten);
    await push([alsoRewritten], 1, LARGE);
    await areHeld(2);
    await push([other], 3);
    await areReadable([other], 3);

    await ingester.kill();
    const { rows } = await world.database.query<{ killed: string }>('select clock_timestamp()::text as killed');
    ingester = await startRoles(['ingester'], world.environment);
    // The test waits for just one write, because the new ingester may write both large pushes in one transaction.
    await areHeld(1, rows[0]?.killed);
    await push([other], 4);
    await areReadable([other], 4);
    expect(await read([rewritten, alsoRewritten, partner])).toEqual([0, 0, 0]);

    await blocker.query('commit');
    await areReadable([rewritten], 3);
    await areReadable([partner], 4);
    await areReadable([alsoRewritten], 1);
    expect(await Promise.all([rewritten, partner, alsoRewritten, other].map(versionsOf))).toEqual([
      [0, 1, 2, 3],
      [0, 3, 4],
      [0, 1],
      [0, 1, 2, 3, 4],
    ]);
  }, 60_000);
});
