/** `GET /data/compare`: two versions of a variable merged by date (R-G6). */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction, withConnection, withTransaction } from '../../../src/platform/database/database.ts';
import { holdGate } from '../../../src/points/columns/hold-gate.ts';
import { comparePoints } from '../../../src/reading/compare/compare-points.ts';
import { fetchRaw, parseCsv } from '../../support/clients/fetch-rows.ts';
import { createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

interface Compared {
  readonly variableId: number;
  readonly unitId: number | null;
  readonly rows: readonly Readonly<Record<string, string | number | null>>[];
  readonly summary: Readonly<Record<string, number | null>>;
}

const day = (number: number) => `2026-01-0${number}T00:00:00Z`;

let api: TestApi;
let siteId: number;
let variableId: number;
/** An instant at which only V1 existed. */
let between: string;

beforeAll(async () => {
  api = await startTestApi();
  let sourceId: number;
  ({ siteId, sourceId, variableId } = await createStructure(api.manager, { isVersioned: true, unitId: 8 }));
  await push(variableId, 'V1', { 1: 1, 2: 2, 3: 3 });
  const [first] = await versionTimestamps('V1');
  between = first ?? '';
  await push(variableId, 'V2', { 2: 2, 3: 5, 4: 4 });
  await createVariable(api.manager, sourceId);
});
afterAll(() => api?.close());

async function push(id: number, version: string, values: Readonly<Record<number, number>>): Promise<void> {
  const data = Object.entries(values).map(([number, value]) => ({ date: day(Number(number)), value }));
  await api.manager.post('/api/data', [{ variableId: id, version, data }]);
  await api.ingest();
}

async function versionTimestamps(version: string): Promise<readonly string[]> {
  const path = `/data?variableId=${variableId}&version=${version}`;
  const { body } = await api.manager.get<{ versionTimestamp: string }[]>(path);
  return body.map(({ versionTimestamp }) => versionTimestamp);
}

async function compare(query: string): Promise<Compared> {
  const { status, body } = await api.manager.get<Compared>(`/data/compare?variableId=${variableId}&${query}`);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
}

const triples = ({ rows }: Compared) => rows.map((row) => [row.leftValue, row.rightValue, row.difference]);

const V1_TO_V2 = [
  [1, null, null],
  [2, 2, 0],
  [3, 5, 2],
  [null, 4, null],
];

describe('reading: comparison', () => {
  test('has, for each date, the values of the two versions and the difference of these values, then a summary (R-G6)', async () => {
    const compared = await compare('leftVersion=V1&rightVersion=V2');
    expect(compared).toMatchObject({ variableId, unitId: 8 });
    expect(compared.rows.map(({ date }) => date)).toEqual([1, 2, 3, 4].map(day));
    expect(triples(compared)).toEqual(V1_TO_V2);
    expect(compared.summary).toEqual({ points: 4, changed: 1, added: 1, removed: 1, meanAbsoluteDifference: 1 });
    expect(Object.keys(compared).at(-1)).toBe('summary');
  });

  test('each side of the comparison is selected by a VersionTag or an as-of instant (R-G6)', async () => {
    const asOf = `leftAsOf=${encodeURIComponent(between)}`;
    expect(triples(await compare(`${asOf}&rightVersion=V2`))).toEqual(V1_TO_V2);
    expect(triples(await compare(asOf))).toEqual([
      [1, 1, 0],
      [2, 2, 0],
      [3, 5, 2],
      [null, 4, null],
    ]);
    expect(triples(await compare(`leftVersion=V2&rightAsOf=${encodeURIComponent(between)}`))).toEqual([
      [null, 1, null],
      [2, 2, 0],
      [5, 3, -2],
      [4, null, null],
    ]);
  });

  test('returns its rows in pages; the summary covers the rows of all pages (R-G6)', async () => {
    const all = await compare('leftVersion=V1&rightVersion=V2');
    const page = await compare('leftVersion=V1&rightVersion=V2&itemsPerPage=3&pageNumber=1');
    expect(page.rows).toEqual(all.rows.slice(3));
    expect(page.summary).toEqual(all.summary);
    const last = await compare('leftVersion=V1&rightVersion=V2&itemsPerPage=1&pagingOrder=DESC');
    expect(last.rows).toEqual(all.rows.slice(3));
  });

  test('if requested, the header x-total-count gives the number of rows on all pages (R-A7)', async () => {
    const path = `/data/compare?variableId=${variableId}&leftVersion=V1&rightVersion=V2`;
    const totalOf = async (query: string, accept: string, wanted = 'true') => {
      const headers = { authorization: `Bearer ${api.manager.token}`, accept, 'x-total-count': wanted };
      return (await fetch(`${api.origin}${path}${query}`, { headers })).headers.get('x-total-count');
    };
    expect(await totalOf('&itemsPerPage=1', 'application/json')).toBe('4');
    expect(await totalOf('&pagingOrder=DESC', 'text/csv')).toBe('4');
    expect(await totalOf('&from=2026-01-02&to=2026-01-03', 'application/json')).toBe('1');
    expect(await totalOf('', 'application/json', 'false')).toBeNull();
  });

  test('reads a date without a time as midnight in timeZoneId (R-A8, R-G1)', async () => {
    const compared = await compare(
      'leftVersion=V1&rightVersion=V2&from=2026-01-02&to=2026-01-04&timeZoneId=America/New_York',
    );
    // The points are at 00:00 UTC, which is 19:00 of the previous day in New York.
    expect(compared.rows.map(({ date }) => date)).toEqual([2, 3].map((it) => `2026-01-0${it}T19:00:00-05:00`));
  });

  test('covers the requested period, in the requested unit and time zone (R-G1, R-C8)', async () => {
    const query = `leftVersion=V1&rightVersion=V2&from=${day(2)}&to=${day(3)}&includeToBoundary=true`;
    const compared = await compare(`${query}&unitId=7&timeZoneId=Europe/Brussels`);
    expect(compared.unitId).toBe(7);
    expect(triples(compared)).toEqual([
      [2000, 2000, 0],
      [3000, 5000, 2000],
    ]);
    expect(compared.rows[0]?.date).toBe('2026-01-02T01:00:00+01:00');
    expect(compared.summary).toMatchObject({ points: 2, added: 0, meanAbsoluteDifference: 1000 });
  });

  test('has no rows and no mean difference when neither version has points (R-G6)', async () => {
    const { rows, summary } = await compare('leftVersion=V8&rightVersion=V9');
    expect(rows).toEqual([]);
    expect(summary).toEqual({ points: 0, changed: 0, added: 0, removed: 0, meanAbsoluteDifference: null });
  });

  test('in CSV, a comparison has the rows but not the summary (R-G4)', async () => {
    const path = `/data/compare?variableId=${variableId}&leftVersion=V1&rightVersion=V2`;
    const [header, ...rows] = parseCsv((await fetchRaw(api, path, 'text/csv')).bytes.toString());
    expect(header).toEqual(['date', 'leftValue', 'rightValue', 'difference']);
    expect(rows[0]).toEqual([day(1), '1', '', '']);
    expect(rows).toHaveLength(4);
  });
});

describe('comparison: an invalid request', () => {
  test.each([
    ['no left version', 'variableId=ID', 400],
    ['no variable', 'leftVersion=V1', 400],
    ['two variables', 'variableIds=ID,NEXT&leftVersion=V1', 400],
    ['an invalid date', 'variableId=ID&leftAsOf=yesterday', 400],
    ['a unit of another family', 'variableId=ID&leftVersion=V1&unitId=20', 400],
    ['an unknown variable', 'variableId=2000000000&leftVersion=V1', 404],
  ])('with %s (%s) is answered with %i (R-A5)', async (_what, query, status) => {
    const path = `/data/compare?${query.replace('ID', String(variableId)).replace('NEXT', String(variableId + 1))}`;
    expect(await api.manager.get(path)).toMatchObject({
      status,
      body: { code: status === 404 ? 'not_found' : 'invalid_input' },
    });
  });

  test('is answered with 404 for a variable of another account or of a site that the user cannot access (R-A5, R-B9)', async () => {
    const path = `/data/compare?variableId=${variableId}&leftVersion=V1`;
    const outsider = await api.signIn('compare-outsider', 'USER', { sites: [] });
    const insider = await api.signIn('compare-insider', 'USER', { sites: [siteId] });
    expect((await api.stranger.get(path)).status).toBe(404);
    expect((await outsider.get(path)).status).toBe(404);
    expect((await insider.get(path)).status).toBe(200);
  });
});

test('comparison: two random versions are merged by date, ascending or descending, in pages of three points (R-G6)', async () => {
  const id = await createVariable(api.manager, (await createStructure(api.manager)).sourceId);
  const { rows } = await api.database.query<{ id: number }>(
    `insert into version_tag (account_id, tag) values ($1, 'L'), ($1, 'R') returning id`,
    [api.accountId],
  );
  const [leftTag, rightTag] = rows.map((row) => row.id);
  // Every write must hold `point_gate`, because the Vitest project `columns` compresses chunks while this test runs.
  const change = (sql: string, values: readonly unknown[]) =>
    withTransaction(api.database, async (transaction) => {
      await holdGate(transaction);
      await transaction.query(sql, [...values]);
    });
  const store = async (tagId: number | undefined, offsetSec: number, hours: readonly number[]): Promise<void> => {
    await change(
      `insert into point_version select timestamptz '2026-01-01' + hour * interval '1 hour', hour + $4::int,
         timestamptz '2026-02-01' + $4::int * interval '1 second', $1, $2, 0 from unnest($3::int[]) hour`,
      [id, tagId, hours, offsetSec],
    );
  };
  const hours = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(hours, hours, fc.constantFrom('ASC' as const, 'DESC' as const), async (left, right, order) => {
      for (const table of ['point', 'point_version']) {
        await change(`delete from ${table} where variable_id = $1`, [id]);
      }
      // Stores one current value for each hour that occurs in `left`, in `right` or in both.
      await change(
        `insert into point select distinct timestamptz '2026-01-01' + hour * interval '1 hour', 0::float8,
           timestamptz '2026-03-01', $1::int, 0, 0 from unnest($2::int[]) hour`,
        [id, [...left, ...right]],
      );
      await store(leftTag, 0, left);
      await store(rightTag, 1, right);
      const dates = [...new Set([...left, ...right])].sort((a, b) => (order === 'ASC' ? a - b : b - a));
      const expected = dates.map((hour) => [
        hour,
        left.includes(hour) ? hour : Number.NaN,
        right.includes(hour) ? hour + 1 : Number.NaN,
      ]);
      expect(await compareInPages(order, 3)).toEqual(expected);
    }),
    { numRuns: 40 },
  );

  function compareInPages(order: 'ASC' | 'DESC', pagePoints: number): Promise<readonly (readonly number[])[]> {
    const side = (tag: string) => ({ variableIds: [id], order, version: { versionTags: [tag] } });
    return withConnection(api.database, (connection) =>
      inTransaction(connection, async (it) => {
        await holdGate(it);
        const found: number[][] = [];
        for await (const { dates, left, right } of comparePoints(it, side('L'), side('R'), pagePoints)) {
          for (const [index, date] of dates.entries()) {
            const hour = (date / 1000 - Date.parse('2026-01-01T00:00:00Z')) / 3_600_000;
            found.push([hour, left[index] ?? 0, right[index] ?? 0]);
          }
        }
        return found;
      }),
    );
  }
});
