/** The ingester serves accounts in turn, and sets aside a batch that cannot be written. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startIngester } from '../../../src/ingest/ingester.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createMetrics } from '../../../src/platform/metrics/metrics.ts';
import { openWakeQueue, type WakeQueue } from '../../../src/platform/queue.ts';
import { encodeTuples } from '../../../src/points/copy-codec.ts';
import { eventually } from '../../support/eventually.ts';
import { addAccount } from '../../support/fixtures/accounts.ts';
import { openPointStore, type PointStore } from '../../support/fixtures/point-store.ts';
import { createTestQueuePrefix, testRedisUrl } from '../../support/services/stack.ts';

const START = Date.UTC(2026, 0, 1) * 1000;
const BACKLOG = 400;
const LOG = createLog('silent', 'test');
const NO_OUTBOX = { relay: async () => {} };

let store: PointStore;
const queues: WakeQueue[] = [];
beforeAll(async () => {
  store = await openPointStore();
});
afterAll(async () => {
  for (const queue of queues) await queue.close();
  await store.close();
});

function openQueue(name: string) {
  const queueOptions = { redisUrl: testRedisUrl(), prefix: createTestQueuePrefix(), log: LOG };
  const queue = openWakeQueue(name, queueOptions);
  queues.push(queue);
  return { queue, queueOptions, outbox: NO_OUTBOX, log: LOG, metrics: createMetrics(), database: store.database };
}

/** Accepts `count` batches of one reading each. */
async function acceptBatches(accountId: number, variableId: number, count: number): Promise<void> {
  const rows = encodeTuples([{ variableId, dateMicros: START, value: 1, versionTagId: 0, tagSetId: 0 }]);
  await store.database.query(
    `with operation as (
       insert into push_operation (account_id, user_id, label, request_id, accepted_elements, accepted_readings)
       select $1, 'u', 'l', 'r', 1, 1 from generate_series(1, $3) returning id, account_id
     )
     insert into push_batch (operation_ids, reading_counts, account_id, rows)
     select array[id], array[1], account_id, $2 from operation order by id`,
    [accountId, rows, count],
  );
}

const waiting = async (accountId: number) =>
  (await store.database.query('select from push_batch where account_id = $1', [accountId])).rowCount ?? 0;

describe('ingester: fairness', () => {
  test('a batch of one account is written while a long backlog of another account still waits (R-A14)', async () => {
    const variableId = await store.addVariable({ isVersioned: false });
    const other = await addAccount(store.database, 'South');
    await acceptBatches(store.accountId, variableId, BACKLOG);
    const parts = openQueue('ingest');
    await parts.queue.wake([String(store.accountId)]);
    const settings = { concurrency: 1, maxRows: 1, sweepIntervalMs: 600_000 };
    const ingester = startIngester({ ...parts, settings });
    await eventually('the first run', async () => (await waiting(store.accountId)) < BACKLOG);
    await acceptBatches(other, variableId, 1);
    await parts.queue.wake([String(other)]);
    await eventually('the other key', async () => (await waiting(other)) === 0);
    expect(await waiting(store.accountId)).toBeGreaterThan(0);
    await ingester.stop();
    expect(await waiting(store.accountId), 'a stop does not wait for the backlog (R-K2)').toBeGreaterThan(0);
  });
});

describe('ingester: a batch that cannot be written', () => {
  test('is set aside after five attempts and kept with the reason; later batches are written (R-D1, R-A15)', async () => {
    const accountId = await addAccount(store.database, 'West');
    const variableId = await store.addVariable({ isVersioned: false });
    await acceptBatches(accountId, variableId, 3);
    // Gives the second batch a wrong number of fields. Also changes the date of its point, so no later batch replaces
    // the point.
    const { rows: broken } = await store.database.query<{ id: number }>(
      `update push_batch set rows = set_byte(set_byte(rows, 1, 9), 13, 7)
       where id = (select id from push_batch where account_id = $1 order by place offset 1 limit 1)
       returning id`,
      [accountId],
    );
    const settings = { concurrency: 1, maxRows: 1000, sweepIntervalMs: 50 };
    const ingester = startIngester({ ...openQueue('ingest'), settings });
    await eventually('the batches before and after it', async () => (await waiting(accountId)) === 1);
    await ingester.stop();
    const { rows } = await store.database.query(
      `select batch.id, attempts, state, failure from push_batch batch join push_operation operation on operation.id = any(operation_ids)
       where batch.account_id = $1 and set_aside_date is not null`,
      [accountId],
    );
    expect(rows).toEqual([
      { id: broken[0]?.id, attempts: 5, state: 'Failed', failure: expect.stringContaining('SQLSTATE 22P04') },
    ]);
  });
});
