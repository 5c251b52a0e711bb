/** Reads of a past state wait for open writes that may belong to this state (R-F5). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withTransaction } from '../../../src/platform/database/database.ts';
import { streamAggregates } from '../../../src/points/buckets/aggregate-points.ts';
import type { PointSelection } from '../../../src/points/point.ts';
import { streamPoints } from '../../../src/points/read/read-points.ts';
import { eventually } from '../../support/eventually.ts';
import { openPointStore, type PointStore } from '../../support/fixtures/point-store.ts';

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
}, 60_000);
afterAll(() => store?.close());

const isWaiting = () =>
  eventually('the reader to wait for writers', async () => {
    const { rowCount } = await store.database.query(
      `select from pg_stat_activity
       where datname = current_database() and query like '%from pg_' || 'locks%' and pid <> pg_backend_pid()`,
    );
    return (rowCount ?? 0) > 0;
  });

const counts = {
  points: (selection: PointSelection) => streamPoints(store.database, selection),
  aggregates: (selection: PointSelection) =>
    streamAggregates(store.database, selection, {
      ...{ bucket: 'all', timeZoneId: 'UTC', fill: 'none' },
      functionOf: () => 'count',
      startOfDay: (micros) => micros,
    }),
} as const;

test.each(['points', 'aggregates'] as const)(
  'points: an as-of read of %s waits for a write that began before the requested instant (R-F5)',
  async (kind) => {
    const variableId = await store.addVariable({ isVersioned: true });
    let rows: Promise<number> | undefined;
    await withTransaction(
      store.database,
      async (writer) => {
        // Like every write of points, this one takes its advisory lock before it gets its VersionTimestamp.
        const { rows: begun } = await writer.query<{ micros: number }>(
          `with announced as (
         select pg_advisory_xact_lock_shared($1::int8 << 32 | floor(extract(epoch from clock_timestamp()))::int8))
       select (extract(epoch from clock_timestamp()) * 1000000)::int8 as micros from announced`,
          [store.accountId],
        );
        const asOfMicros = (begun[0]?.micros ?? 0) + 1000;
        const selection: PointSelection = { variableIds: [variableId], version: { asOfMicros }, order: 'ASC' };
        rows = countRows(counts[kind](selection));
        await isWaiting();
        await writer.query(
          `insert into point values ('2026-01-01', 1, to_timestamp(0) + $2::int8 * interval '1 microsecond', $1, 0, 0)`,
          [variableId, asOfMicros],
        );
      },
      { idleTimeoutMs: 0 },
    );
    expect(await rows).toBe(1);
  },
);

async function countRows(chunks: AsyncIterable<{ readonly dates: Float64Array }>): Promise<number> {
  let count = 0;
  for await (const { dates } of chunks) count += dates.length;
  return count;
}
