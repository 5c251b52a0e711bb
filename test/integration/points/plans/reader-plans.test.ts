/**
 * Tests the query plans of the reads that must be fast (R-F6): the plans use index scans in the requested order. The
 * recorded plans omit what differs from one run of the tests to the next: chunk names, constants and counts.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withTransaction } from '../../../../src/platform/database/database.ts';
import type { Buckets } from '../../../../src/points/buckets/bucket.ts';
import { selectBuckets } from '../../../../src/points/buckets/select-buckets.ts';
import type { PointSelection, VersionChoice } from '../../../../src/points/point.ts';
import { findChosenLabels } from '../../../../src/points/read/find-chosen-labels.ts';
import { selectPoints } from '../../../../src/points/read/read-points.ts';
import { streamFromIndexes } from '../../../../src/points/read/select-of-variables.ts';
import { openPointStore, type PointStore } from '../../../support/fixtures/point-store.ts';

const VARIABLES = 40;
const DAYS = 90;
const FROM = Date.UTC(2026, 0, 1) * 1000;
const MONTH = 30 * 86_400_000_000;

let store: PointStore;
let variableIds: readonly number[];
beforeAll(async () => {
  store = await openPointStore();
  variableIds = await Promise.all(Array.from({ length: VARIABLES }, () => store.addVariable({ isVersioned: true })));
  const { database, accountId } = store;
  await database.query(`insert into version_tag (account_id, tag) values ($1, 'V1')`, [accountId]);
  await database.query(
    `insert into tag_set (account_id, hash, tags)
     select $1, sha256(n::text::bytea), jsonb_build_object('run', n::text, 'quality', 'good') from generate_series(1, 500) n`,
    [accountId],
  );
  const rows = `select timestamptz '2026-01-01' + n * interval '15 minutes', n, now() - k * interval '1 day', id, 1, n % 500 + 1
    from unnest($1::int[]) id, generate_series(0, $2 * 96 - 1) n`;
  await database.query(`insert into point ${rows}, (values (0)) version (k)`, [variableIds, DAYS]);
  await database.query(`insert into point_version ${rows}, generate_series(1, 3) k`, [variableIds.slice(0, 20), DAYS]);
  await database.query('vacuum (analyze) point, point_version, tag_set, version_tag');
}, 120_000);
afterAll(() => store?.close());

const aMonth = { fromMicros: FROM + MONTH, toMicros: FROM + 2 * MONTH };

function choose(version: VersionChoice, rest: Partial<PointSelection> = aMonth): Selection {
  return { version, order: 'ASC', ...rest };
}

type Selection = Omit<PointSelection, 'variableIds'>;

const asOf = { asOfMicros: Date.now() * 1000 - 86_400_000_000 };
const tagged: VersionChoice = { tags: [['quality', 'good']] };

async function planOf(wanted: Selection, buckets: Buckets | undefined): Promise<readonly string[]> {
  const selection = { ...wanted, variableIds: variableIds.slice(0, 3) };
  return withTransaction(store.database, async (transaction) => {
    const labels = await findChosenLabels(transaction, selection);
    await streamFromIndexes(transaction);
    const statement = buckets
      ? selectBuckets(selection.variableIds, {
          selection,
          labels,
          buckets,
          aggregate: 'avg',
          isRolledUp: false,
          page: selection,
        })
      : selectPoints(selection, selection.variableIds, labels);
    const { rows } = await transaction.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${statement}`);
    return normalise(rows.map((row) => row['QUERY PLAN']));
  });
}

/** Keeps only the nodes and keys of a plan, and merges adjacent equal lines. */
function normalise(lines: readonly string[]): readonly string[] {
  const steps = lines
    .filter(
      (line, index) => index === 0 || line.includes('->') || /^\s*(Sort Key|Presorted Key|Order|Group Key):/.test(line),
    )
    .map((line) =>
      line
        .replace(/"?_hyper_\d+_\d+_chunk_(point\w*)"?/g, '$1')
        .replace(/"?_hyper_\d+_\d+_chunk\w*"?/g, 'chunk')
        .replace(/\b(chunk|point|point_version) \w+_\d+\b/g, '$1')
        .replace(/\b(point|point_version)_\d+\./g, '')
        .replace(/(Key|Order): .*/, (text) =>
          text.replace(/\b\w+_\d+\.|\b(point|point_version|chunk|version|tagged)\./g, ''),
        ),
    );
  return steps.filter((line, index) => line !== steps[index - 1]);
}

describe('points: plans of reads that must be fast', () => {
  const byDay: Buckets = {
    ...{ bucket: 'day', timeZoneId: 'Europe/Brussels', fill: 'none' },
    functionOf: () => 'avg',
    startOfDay: (micros) => micros,
  };

  test.each<readonly [string, Selection, Buckets | undefined]>([
    ['the latest versions of a period', choose({}), undefined],
    ['the latest versions of a period in descending order', choose({}, { ...aMonth, order: 'DESC' }), undefined],
    ['the last point', choose({}, { order: 'DESC', limit: 1 }), undefined],
    ['a past state', choose(asOf), undefined],
    ['the last point of a past state', choose(asOf, { order: 'DESC', limit: 1 }), undefined],
    ['a VersionTag', choose({ versionTags: ['V1'] }), undefined],
    ['versions with a tag', choose(tagged), undefined],
    ['every version', choose({ isEvery: true }), undefined],
    ['the latest versions by day', choose({}), byDay],
    ['a past state by day', choose(asOf), byDay],
  ])('a read of %s uses the indexes (R-F6)', async (_, selection, buckets) => {
    const plan = await planOf(selection, buckets);
    expect(plan.filter((line) => /Seq Scan on (chunk|point)|Bitmap/.test(line))).toEqual([]);
    expect(plan.join('\n')).toMatchSnapshot();
  });

  test('a sequential scan stays visible in a normalised plan', async () => {
    const { rows } = await store.database.query<{ 'QUERY PLAN': string }>(
      'explain (costs off) select * from point where value = 1',
    );
    expect(normalise(rows.map((row) => row['QUERY PLAN'])).join('\n')).toMatch(/Seq Scan on (chunk|point)/);
  });
});
