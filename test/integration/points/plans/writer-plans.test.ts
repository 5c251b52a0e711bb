/**
 * Statements of writes and removals find their rows by index scans, and only in the affected chunks. The tables have
 * enough rows for the planner to have a choice of plans.
 */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { type Transaction, withTransaction } from '../../../../src/platform/database/database.ts';
import { encodeTuples } from '../../../../src/points/copy-codec.ts';
import {
  countDates,
  deleteCurrent,
  deleteHistory,
  deletePoints,
  findRemoved,
} from '../../../../src/points/remove/delete-points.ts';
import { purgeDeletedVariable } from '../../../../src/points/remove/purge-points.ts';
import { cutVersions } from '../../../../src/points/remove/purge-versions.ts';
import { CHUNK_MICROS, chunkOf } from '../../../../src/points/write/chunk-rules.ts';
import type { ChunkRanges, DateRanges } from '../../../../src/points/write/date-ranges-rules.ts';
import { chunksOf, findChunks } from '../../../../src/points/write/find-chunks.ts';
import { addSeries, findSettings, lockRows, SAVE_SERIES } from '../../../../src/points/write/lock-series.ts';
import { RANGE_STEPS, toValues, withNestedLoops } from '../../../../src/points/write/supersede-stored.ts';
import { writePoints } from '../../../../src/points/write/write-points.ts';
import { openPointStore, type PointStore } from '../../../support/fixtures/point-store.ts';
import { addStoredVariables } from '../../../support/fixtures/stored-structure.ts';

const SERIES = 20_000;
const VARIABLES = 100;
const HOURS = 600;
const HOUR = 3_600_000_000;
const FROM = (chunkOf(Date.UTC(2026, 0, 1) * 1000) + 1) * CHUNK_MICROS;
const CHUNKS = 40;

let store: PointStore;
let ids: readonly number[];
beforeAll(async () => {
  store = await openPointStore();
  const { database } = store;
  ids = await addStoredVariables(database, store, { count: SERIES, isVersioned: true });
  await database.query(
    `insert into series (variable_id, max_date, version_bound, has_history)
     select unnest($1::int[]), '2100-01-01', 9, true`,
    [ids],
  );
  await insertPoints('point', 1, ids.slice(0, VARIABLES), FROM);
  await insertPoints('point_version', 3, ids.slice(0, VARIABLES), FROM);
  for (const table of ['point', 'point_version']) {
    await database.query(
      `insert into ${table} (date, value, version_timestamp, variable_id, version_tag_id, tag_set_id)
       select timestamptz 'epoch' + ($1::int8 - chunk * $2::int8) * interval '1 microsecond', 0, now(), $3, 0, 0
       from generate_series(1, ${CHUNKS}) chunk`,
      [FROM, CHUNK_MICROS, ids[0]],
    );
  }
  await database.query('vacuum (analyze) point, point_version, series, variable, account');
}, 120_000);
afterAll(() => store?.close());

/** Inserts, for each variable, `versions` rows at each of HOURS consecutive hours. The first hour is `start`. */
function insertPoints(table: string, versions: number, variableIds: readonly number[], start: number) {
  return store.database.query(
    `insert into ${table} (date, value, version_timestamp, variable_id, version_tag_id, tag_set_id)
     select timestamptz 'epoch' + ($2::int8 + hour * 3600000000) * interval '1 microsecond', hour,
            now() - (${versions} + version) * interval '1 hour', id, 0, 0
     from unnest($1::int[]) id, generate_series(0, $3 - 1) hour, generate_series(1, ${versions}) version`,
    [variableIds, start, HOURS],
  );
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

const isOfInterest = (name: string) => /^(point|point_version|series|variable)$|chunk/.test(name);

/** Lists the scans of the relevant tables: node type (`how`) and index condition (`by`). */
function scansOf(node: PlanNode): readonly { readonly how: string; readonly by: string }[] {
  const relation = node['Relation Name'];
  const isScan = relation !== undefined && isOfInterest(relation) && /(?<!Custom) Scan$/.test(node['Node Type']);
  const own = isScan ? [{ how: node['Node Type'], by: node['Index Cond'] ?? '' }] : [];
  return [...own, ...(node.Plans ?? []).flatMap(scansOf)];
}

async function explain(transaction: Transaction, statement: string, values: readonly unknown[]) {
  const { rows } = await transaction.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
    `explain (format json) ${statement}`,
    [...values],
  );
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
  if (!plan) throw new Error('no plan');
  return scansOf(plan);
}

const inTransaction = <Result>(work: (transaction: Transaction) => Promise<Result>) =>
  withTransaction(store.database, work);

/**
 * @returns date ranges (date-ranges-rules.ts) for the first half of the variables. If `isSingle`, each of these
 *   variables has `HOURS` ranges of one date. Otherwise, each has one range of `HOURS` dates.
 */
function rangesOf(isSingle: boolean): DateRanges {
  const variableIds = ids.slice(0, VARIABLES / 2);
  const one = (count: number, length: number) => {
    const dates = Array.from({ length: count }, (_, index) => FROM + index * length * HOUR);
    const columns = variableIds.flatMap((id) => dates.map((date) => ({ id, date })));
    return {
      variableIds: columns.map(({ id }) => id),
      fromMicros: columns.map(({ date }) => date),
      toMicros: columns.map(({ date }) => date + (length - 1) * HOUR),
      stepMicros: columns.map(() => HOUR),
      versionTagIds: columns.map(() => 0),
      versionLimits: columns.map(() => 3),
    };
  };
  return isSingle ? one(HOURS, 1) : one(1, HOURS);
}

function expectByKeys(scans: readonly { readonly how: string; readonly by: string }[]): void {
  expect(scans.length).toBeGreaterThan(0);
  for (const { how, by } of scans) {
    expect(how).toMatch(/^(Index|Index Only|Bitmap Heap|Bitmap Index) Scan$/);
    if (how.startsWith('Index')) expect(by).toMatch(/\b(variable_id|id)\b/);
  }
}

it('points: the chunks in the database have the bounds that chunk-rules.ts computes', async () => {
  const chunks = await inTransaction((transaction) => findChunks(transaction));
  expect(chunks.length).toBeGreaterThan(2 * CHUNKS);
  for (const { fromMicros, toMicros } of chunks) {
    expect([fromMicros, toMicros]).toEqual([chunkOf(fromMicros), chunkOf(fromMicros) + 1].map((n) => n * CHUNK_MICROS));
  }
});

describe('points: the statements that a write executes on stored rows', () => {
  test.each(Object.keys(RANGE_STEPS) as (keyof ChunkRanges)[])(
    'the rows of the set `%s` are found by index scans',
    async (set) => {
      for (const isSingle of [true, false]) {
        await inTransaction(async (transaction) => {
          const chunks = await findChunks(transaction);
          for (const { table, statement } of RANGE_STEPS[set]) {
            const [chunk] = chunksOf(chunks, table, chunkOf(FROM));
            if (!chunk) throw new Error('no chunk');
            const values = toValues(chunk, rangesOf(isSingle));
            const scans = await withNestedLoops(transaction, () =>
              explain(transaction, statement(chunk, 'point_version'), values),
            );
            expectByKeys(scans);
          }
        });
      }
    },
  );

  it('the versions of consecutive dates are counted in one pass, even without statistics (R-F3)', async () => {
    const start = FROM + CHUNK_MICROS;
    await insertPoints('point_version', 3, ids.slice(0, 1), start);
    await inTransaction(async (transaction) => {
      const [chunk] = chunksOf(await findChunks(transaction), 'point_version', chunkOf(start));
      const [step] = RANGE_STEPS.limited;
      if (!chunk || !step) throw new Error('no chunk');
      const range: DateRanges = {
        ...{ variableIds: [ids[0] ?? 0], fromMicros: [start], toMicros: [start + (HOURS - 1) * HOUR] },
        ...{ stepMicros: [HOUR], versionTagIds: [0], versionLimits: [3] },
      };
      const { rows } = await withNestedLoops(transaction, () =>
        transaction.query(
          `explain (analyze, timing off, format json) ${step.statement(chunk, 'point_version')}`,
          toValues(chunk, range),
        ),
      );
      const loops = [...JSON.stringify(rows).matchAll(/"WindowAgg".*?"Actual Loops":(\d+)/g)].map(([, count]) => count);
      expect(loops).toEqual(['1']);
    });
  });
});

describe('points: the write state of variables', () => {
  const some = () => ids.slice(1000, 1050);
  test.each([
    ['adding write states', addSeries('$1::int[]'), () => [some()]],
    ['locking write states', lockRows('$1::int[]'), () => [some()]],
    ['finding the settings of variables', findSettings('$1::int[]'), () => [some()]],
    [
      'saving write states',
      SAVE_SERIES,
      () => [some(), some(), some(), some().map(() => true), some(), some(), some()],
    ],
  ] as const)('%s uses index scans by variable id', async (_what, statement, values) => {
    expectByKeys(await inTransaction((transaction) => explain(transaction, statement, values())));
  });
});

describe('points: removal', () => {
  test.each([
    ['counting dates', 'point', countDates],
    ['deleting the history', 'point_version', deleteHistory],
    ['deleting the current values', 'point', deleteCurrent],
  ] as const)('%s of a period uses index scans to find the rows (R-G5)', async (_what, table, statement) => {
    await inTransaction(async (transaction) => {
      const [chunk] = chunksOf(await findChunks(transaction), table, chunkOf(FROM));
      const period = [ids.slice(0, 5), new Date(FROM / 1000).toISOString(), 'infinity'];
      expectByKeys(await explain(transaction, statement(chunk?.target ?? ''), period));
    });
  });

  it('the removal of surplus versions finds these versions by index scans (R-F7)', async () => {
    await inTransaction(async (transaction) => {
      const [chunk] = chunksOf(await findChunks(transaction), 'point_version', chunkOf(FROM));
      const values = [ids[1], 2, '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'];
      const statement = cutVersions(chunk?.target ?? '');
      expectByKeys(await withNestedLoops(transaction, () => explain(transaction, statement, values)));
    });
  });
});

describe('points: locks on chunks', () => {
  const dates = [FROM - CHUNKS * CHUNK_MICROS, FROM];
  const LOCKED = `
    select distinct relation::regclass::text as name from pg_locks join pg_class on pg_class.oid = relation
    where pid = pg_backend_pid() and relkind = 'r' and relname like '%chunk' and relname like '\\_hyper%'`;
  const countLocked = (work: (transaction: Transaction) => Promise<unknown>) =>
    inTransaction(async (transaction) => {
      await work(transaction);
      return (await transaction.query(LOCKED)).rowCount;
    });
  const write = (transaction: Transaction) =>
    writePoints(transaction, [
      encodeTuples(
        dates.map((dateMicros) => ({ variableId: ids[0] ?? 0, dateMicros, value: 1, versionTagId: 0, tagSetId: 0 })),
      ),
    ]);

  it('a write with dates far apart locks only the affected chunks', async () => {
    await inTransaction(write);
    expect(await countLocked(write)).toBe(2 * dates.length);
  });

  it('counting and deleting the points of a period lock only the affected chunks (R-G5)', async () => {
    const removal = { variableIds: ids.slice(0, 1), fromMicros: FROM, toMicros: FROM + HOUR };
    expect(await countLocked((transaction) => findRemoved(transaction, removal))).toBe(1);
    expect(await countLocked((transaction) => deletePoints(transaction, removal))).toBe(2);
  });
});

it('points: purging a deleted variable with points in many chunks takes several transactions (R-C7)', async () => {
  const { rows } = await store.database.query<{ id: number }>('select max(id) as id from variable');
  const variableId = rows[0]?.id ?? 0;
  for (const table of ['point', 'point_version']) {
    await store.database.query(
      `insert into ${table} (date, value, version_timestamp, variable_id, version_tag_id, tag_set_id)
       select timestamptz 'epoch' + ($1::int8 - chunk * $2::int8) * interval '1 microsecond', 0, now(), $3, 0, 0
       from generate_series(0, ${CHUNKS}) chunk`,
      [FROM, CHUNK_MICROS, variableId],
    );
  }
  await store.database.query('insert into point_purge (account_id, variable_id) values ($1, $2)', [
    store.accountId,
    variableId,
  ]);
  const left: number[] = [];
  while (await purgeDeletedVariable(store.database)) {
    const { rows: counts } = await store.database.query<{ count: number }>(
      `select count(*)::int as count from (select * from point union all select * from point_version) point
       where variable_id = $1`,
      [variableId],
    );
    left.push(counts[0]?.count ?? 0);
  }
  expect(left.length).toBeGreaterThan(1);
  expect(left[0]).toBeGreaterThan(0);
  expect(left[0]).toBeLessThan(2 * (CHUNKS + 1));
  expect(left.at(-1)).toBe(0);
});
