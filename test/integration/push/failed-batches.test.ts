/**
 * One ingester reports the failure of a batch while another ingester writes the batch. The batch is written once, and
 * the failure is not counted against any other batch.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noteFailedBatch } from '../../../src/push/store/failed-batches.ts';
import { eventually } from '../../support/eventually.ts';
import { firstBatchOf } from '../../support/fixtures/failed-batches.ts';
import { createStructure } from '../../support/fixtures/structure.ts';
import { BEGIN_HOLDING } from '../../support/services/stack.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
let variableId: number;
beforeAll(async () => {
  api = await startTestApi();
  ({ variableId } = await createStructure(api.manager, { isVersioned: true, versionLimit: 100 }));
  // The first write adds the variable's row in `series`. The tests lock this row.
  await push();
  await api.ingest();
});
afterAll(() => api.close());

let pushed = 0;
/** Pushes one reading. @returns the label of the push. */
async function push(): Promise<string> {
  const label = `label-${++pushed}`;
  const data = [{ date: '2026-01-01T00:00:00Z', value: pushed }];
  expect((await api.manager.post(`/api/data?operationId=${label}`, [{ variableId, data }])).status).toBe(200);
  return label;
}

const stateOf = async (label: string) =>
  (await api.manager.get<{ state: string }>(`/api/operations/${label}`)).body.state;

async function versionCount(): Promise<number> {
  const { rows } = await api.database.query<{ count: number }>(
    `select (select count(*) from point where variable_id = $1)::int
          + (select count(*) from point_version where variable_id = $1)::int as count`,
    [variableId],
  );
  return rows[0]?.count ?? 0;
}

/** Merges the waiting batches into one, as if the pushes had arrived together. */
async function mergeBatches(): Promise<void> {
  await api.database.query(
    `update push_batch set operation_ids = merged.ids, reading_counts = merged.counts, rows = merged.rows
     from (select array_agg(operation_ids[1] order by id) as ids, array_agg(reading_counts[1] order by id) as counts,
             string_agg(rows, ''::bytea order by id) as rows, min(id) as first from push_batch) merged
     where id = merged.first`,
  );
  await api.database.query('delete from push_batch where id > (select min(id) from push_batch)');
}

/**
 * Waits until a query that contains `statement` waits for a lock of the type `lock`.
 * @param lock a type of lock, as the column `wait_event` of `pg_stat_activity` names it.
 * @param statement a part of the text of the query.
 */
const waiter = (lock: string, statement: string) =>
  eventually(`${statement} at a lock`, async () => {
    const { rowCount } = await api.database.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event = $1
         and query like '%' || $2 || '%' and pid <> pg_backend_pid()`,
      [lock, statement],
    );
    return (rowCount ?? 0) > 0;
  });

describe('push: one ingester reports a batch as failed while another ingester writes the batch', () => {
  it.each([
    ['one push', 1],
    ['several pushes', 3],
  ])('a batch with %s is written once (R-D6, R-K3)', async (_what, pushes) => {
    await api.ingest();
    const before = await versionCount();
    const labels: string[] = [];
    while (labels.length < pushes) labels.push(await push());
    await mergeBatches();
    const batchId = await firstBatchOf(api.database, api.accountId);
    await api.database.query('update push_batch set attempts = 4 where id = $1', [batchId]);
    const blocker = await api.database.connect();
    await blocker.query(BEGIN_HOLDING);
    await blocker.query('select from series where variable_id = $1 for update', [variableId]);
    const next = api.ingest();
    // The ingester locks the batch and then waits for the lock of the variable's row in `series`.
    await waiter('transactionid', 'from series');
    const noting = noteFailedBatch(api.database, api.accountId, batchId, new Error('no room'));
    await waiter('transactionid', 'from push_batch');
    await blocker.query('commit');
    blocker.release();
    await next;
    expect(await noting).toBe(false);
    await api.ingest();
    expect(await Promise.all(labels.map(stateOf))).toEqual(labels.map(() => 'Completed'));
    expect(await versionCount()).toBe(before + pushes);
  });
});

it('push: a queued batch keeps its number of attempts when a reported failure names another batch or no batch (R-K3)', async () => {
  await api.ingest();
  await push();
  const batchId = await firstBatchOf(api.database, api.accountId);
  for (const other of [undefined, batchId - 1, batchId + 1]) {
    expect(await noteFailedBatch(api.database, api.accountId, other, new Error('gone'))).toBe(false);
  }
  const { rows } = await api.database.query('select attempts from push_batch where id = $1', [batchId]);
  expect(rows).toEqual([{ attempts: 0 }]);
  await api.ingest();
});
