/** Query parameters, request bodies and gRPC requests must all select versions in the same way (R-G2, R-J1). */
import { status as GrpcStatus } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Row, toRows } from '../../support/answers/point-rows.ts';
import { createGrpcReader, type GrpcReader } from '../../support/clients/grpc-client.ts';
import { createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const day = (number: number) => `2026-01-0${number}T00:00:00Z`;

let api: TestApi;
let reader: GrpcReader;
/** Variable with three dates: V1 was written 10 days ago for all dates, and V2 was written 2 days ago for two dates. */
let revised: number;
/** Variable with one date, 2026-01-10: V1 was written 36 hours before this date, and V2 18 hours before this date. */
let forecast: number;
/**
 * Variable with one value, at the end of a day of 23 hours in Brussels. The value was written 23.5 hours before its
 * date.
 */
let spring: number;

beforeAll(async () => {
  api = await startTestApi();
  reader = createGrpcReader(api.grpcAddress, api.manager.token);
  const { sourceId, variableId } = await createStructure(api.manager, { isVersioned: true, unitId: 8 });
  revised = variableId;
  const first = { quality: 'first', 'a:b': 'c:d' };
  await push(revised, 'V1', first, { [day(1)]: 1, [day(2)]: 2, [day(3)]: 3 });
  await push(revised, 'V2', { quality: 'second' }, { [day(1)]: 1.5, [day(2)]: 2.5 });
  await wasKnown(revised, 'V1', `now() - interval '10 days'`);
  await wasKnown(revised, 'V2', `now() - interval '2 days'`);
  forecast = await createVariable(api.manager, sourceId, { isVersioned: true });
  await push(forecast, 'V1', {}, { '2026-01-10T00:00:00Z': 1 });
  await push(forecast, 'V2', {}, { '2026-01-10T00:00:00Z': 2 });
  await wasKnown(forecast, 'V1', `timestamptz '2026-01-08 12:00Z'`);
  await wasKnown(forecast, 'V2', `timestamptz '2026-01-09 06:00Z'`);
  spring = await createVariable(api.manager, sourceId, { isVersioned: true });
  await push(spring, 'V1', {}, { '2026-03-29T22:00:00Z': 1 });
  await wasKnown(spring, 'V1', `timestamptz '2026-03-28 22:30Z'`);
});
afterAll(async () => {
  reader?.close();
  await api?.close();
});

async function push(variableId: number, version: string, tags: object, values: object): Promise<void> {
  const data = Object.entries(values).map(([date, value]) => ({ date, value }));
  await api.manager.post('/api/data', [{ variableId, version, tags, data }]);
  await api.ingest();
}

async function wasKnown(variableId: number, version: string, instant: string): Promise<void> {
  for (const table of ['point', 'point_version']) {
    await api.database.query(
      `update ${table} set version_timestamp = ${instant} where variable_id = $1
       and version_tag_id = (select id from version_tag where account_id = $2 and tag = $3)`,
      [variableId, api.accountId, version],
    );
  }
}

async function rows<Of = Row>(query: string): Promise<readonly Of[]> {
  const { status, body } = await api.manager.get<readonly Of[]>(`/data?${query}`);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
}

describe('version selection: query, body and gRPC (R-G2, R-J1)', () => {
  type Case = readonly [query: string, body: object, message: object, values: readonly number[]];
  const cases: readonly Case[] = [
    ['relativeVersion=Current', { relativeVersion: 'Current' }, { relativeVersion: 'Current' }, [1.5, 2.5, 3]],
    ['relativeVersion=last+3+days', { relativeVersion: 'Last3Days' }, { relativeVersion: 'P3D' }, [1, 2, 3]],
    ['relativeVersion=last+day', { relativeVersion: '24 hours' }, { relativeVersion: 'PT24H' }, [1.5, 2.5, 3]],
    ['relativeVersion=1+year', { relativeVersion: '12 months' }, { relativeVersion: 'P1Y' }, []],
    ['tags=quality:first', { tags: { quality: 'first' } }, { tags: { quality: 'first' } }, [1, 2, 3]],
    [
      'tags=quality:first&tags=version:V1',
      { tags: ['quality:first', 'version:V1'] },
      { tags: { quality: 'first', version: 'V1' } },
      [1, 2, 3],
    ],
    [
      'tags=quality:first&tags=version:V2',
      { tags: { quality: 'first', version: 'V2' } },
      { tags: { quality: 'first', version: 'V2' } },
      [],
    ],
    ['versions=all', { versions: 'ALL' }, { everyVersion: true }, [1, 1.5, 2, 2.5, 3]],
    [
      'versions=all&tags=quality:second&pagingOrder=DESC',
      { versions: 'all', tags: { quality: 'second' }, pagingOrder: 'desc' },
      { everyVersion: true, tags: { quality: 'second' }, order: 'DESC' },
      [2.5, 1.5],
    ],
    [
      'version=V2&relativeVersion=3+days',
      { version: ['V2'], relativeVersion: '3 days' },
      { versions: ['V2'], relativeVersion: '3 days' },
      [],
    ],
    [
      'version=V1&unitId=7&itemsPerPage=2',
      { version: 'V1', unitId: 7, itemsPerPage: 2 },
      { versions: ['V1'], unitId: 7, itemsPerPage: 2 },
      [1000, 2000],
    ],
  ];

  test.each([...cases])(
    'the query %s reads the same rows as the equivalent body and gRPC message',
    async (query, body, message, values) => {
      const found = await rows(`variableId=${revised}&${query}`);
      expect(found.map(({ rawValue }) => rawValue)).toEqual(values);
      expect((await api.manager.post('/data', { VariableId: revised, ...body })).body).toEqual(found);
      expect(toRows(await reader.readPoints({ variableIds: [revised], ...message }))).toEqual(found);
    },
  );

  test('a tag whose key contains a colon can be selected by a gRPC message, and by a body in which `tags` is an object (R-G2)', async () => {
    const tags = { 'a:b': 'c:d' };
    const { body } = await api.manager.post<Row[]>('/data', { variableId: revised, tags });
    expect(body).toHaveLength(3);
    expect(toRows(await reader.readPoints({ variableIds: [revised], tags }))).toEqual(body);
  });

  test.each([
    ['PT12H', [2]],
    ['P1D', [1]],
    ['PT36H', [1]],
    ['PT36H0.000001S', []],
    ['P1M', []],
  ])(
    'with a horizon of %s, a read returns the value known this long before the date (R-G2)',
    async (horizon, values) => {
      const found = await rows(`variableId=${forecast}&horizon=${horizon}`);
      expect(found.map(({ rawValue }) => rawValue)).toEqual(values);
      expect(toRows(await reader.readPoints({ variableIds: [forecast], horizon }))).toEqual(found);
    },
  );
});

describe('version selection: horizon on the calendar of timeZoneId (R-G2)', () => {
  // A horizon of P1D leads to the same local time on the previous day. Some rows of the table are special:
  // - row 1: this local time occurs twice on the previous day.
  // - row 2: this local time is skipped on the previous day.
  // - Pacific/Apia: this local time is the first instant after 30 December 2011, a day that Samoa skipped.
  // - America/Winnipeg: in 2026, the tz databases of Node and of PostgreSQL disagreed about dates in 2027.
  test.each([
    ['Europe/Brussels', '2026-10-26T01:30:00Z', 'P1D', '2026-10-25T01:30:00Z'],
    ['Europe/Brussels', '2026-03-30T00:30:00Z', 'P1D', '2026-03-29T01:30:00Z'],
    ['Europe/Brussels', '2026-03-31T10:00:00Z', 'P1MT1H', '2026-02-28T10:00:00Z'],
    ['Australia/Lord_Howe', '2026-04-05T13:30:00Z', 'P1D', '2026-04-04T13:00:00Z'],
    ['Pacific/Apia', '2011-12-31T10:00:00Z', 'P1D', '2011-12-30T10:00:00Z'],
    ['America/Winnipeg', '2027-03-14T18:00:00Z', 'P1D', '2027-03-13T19:00:00Z'],
  ])(
    'in %s, a read of the point at %s with horizon %s finds versions written at or before %s (R-G2, R-D4)',
    async (timeZoneId, date, horizon, bound) => {
      const { variableId } = await createStructure(api.manager, { isVersioned: true });
      await push(variableId, 'V1', {}, { [date]: 1 });
      const words = `variableId=${variableId}&horizon=${horizon}&timeZoneId=${timeZoneId}`;
      const period = `${words}&from=${date}&to=${date}&includeToBoundary=true`;
      for (const [instant, count] of [
        [`timestamptz '${bound}'`, 1],
        [`timestamptz '${bound}' + interval '1 microsecond'`, 0],
      ] as const) {
        await wasKnown(variableId, 'V1', instant);
        expect([await rows(words), await rows(period)].map((found) => found.length)).toEqual([count, count]);
      }
    },
  );

  test('P1D is a calendar day of timeZoneId, not 24 hours (R-G2, R-G1)', async () => {
    const timeZoneId = 'Europe/Brussels';
    expect(await rows(`variableId=${spring}&horizon=P1D`)).toHaveLength(0);
    expect(await rows(`variableId=${spring}&horizon=P1D&timeZoneId=${timeZoneId}`)).toHaveLength(1);
    const chunks = await reader.readPoints({ variableIds: [spring], horizon: 'P1D', timeZoneId });
    expect(toRows(chunks)).toHaveLength(1);
  });
});

describe('version selection: aggregates over REST and gRPC (R-G2)', () => {
  type Aggregated = Readonly<Record<string, unknown>>;
  const cases: readonly (readonly [query: string, message: object, member: string, values: readonly unknown[]])[] = [
    ['aggregation=SUM&version=V1', { aggregate: 'AGGREGATE_SUM', versions: ['V1'] }, 'sumValue', [6]],
    ['aggregation=SUM', { aggregate: 'AGGREGATE_SUM' }, 'sumValue', [7]],
    ['aggregation=COUNT&versions=all', { aggregate: 'AGGREGATE_COUNT', everyVersion: true }, 'countValue', [5]],
    [
      'aggregation=MAX&tags=quality:second',
      { aggregate: 'AGGREGATE_MAX', tags: { quality: 'second' } },
      'maxValue',
      [2.5],
    ],
    ['relativeVersion=3+days', { relativeVersion: '3 days' }, 'avgValue', [2]],
    ['aggregation=SUM&unitId=7', { aggregate: 'AGGREGATE_SUM', unitId: 7 }, 'sumValue', [7000]],
  ];

  test.each([...cases])('the query %s aggregates the selected versions', async (query, message, member, values) => {
    const found = await rows<Aggregated>(`variableId=${revised}&granularity=Month&${query}`);
    expect(found.map((row) => row[member])).toEqual(values);
    const [chunk] = await reader.readPoints({
      variableIds: [revised],
      granularity: 'GRANULARITY_MONTH',
      ...message,
    });
    expect(chunk).toMatchObject({ values, dateMicros: [Date.parse(day(1)) * 1000], versionTimestampMicros: [] });
    expect(chunk?.unitId).toBe(found[0]?.unitId);
  });

  test('when `fill` is null, a bucket without points is null over REST and NaN over gRPC (R-J1, R-G1)', async () => {
    const query = `granularity=Hour&fill=null&from=${day(1)}&to=2026-01-01T03:00:00Z`;
    const found = await rows<Aggregated>(`variableId=${revised}&aggregation=SUM&${query}`);
    expect(found.map(({ sumValue }) => sumValue)).toEqual([1.5, null, null]);
    const request = {
      variableIds: [revised],
      ...{ granularity: 'GRANULARITY_HOUR', aggregate: 'AGGREGATE_SUM', fill: 'FILL_NULL' },
      ...{ fromMicros: Date.parse(day(1)) * 1000, toMicros: Date.parse('2026-01-01T03:00:00Z') * 1000 },
    };
    const [chunk] = await reader.readPoints(request);
    expect(chunk).toMatchObject({ aggregate: 'AGGREGATE_SUM', values: [1.5, Number.NaN, Number.NaN] });
    const [incomplete] = await reader.readPoints({ ...request, minCount: 2 });
    expect(incomplete?.values).toEqual([Number.NaN, Number.NaN, Number.NaN]);
  });

  test('granularity Day uses the days of timeZoneId, both over gRPC and over REST (R-J1, R-G1)', async () => {
    const timeZoneId = 'Romance Standard Time';
    const found = await rows<Aggregated>(
      `variableId=${revised}&granularity=Day&timeZoneId=${encodeURIComponent(timeZoneId)}`,
    );
    expect(found[0]?.date).toBe('2026-01-01T00:00:00+01:00');
    const [chunk] = await reader.readPoints({ variableIds: [revised], granularity: 'GRANULARITY_DAY', timeZoneId });
    expect(chunk?.dateMicros).toEqual(found.map(({ date }) => Date.parse(String(date)) * 1000));
  });
});

describe('version selection: gRPC refuses contradictory or invalid fields (R-J3)', () => {
  test.each([
    [
      'an instant and a relative version',
      { asOfMicros: 0, relativeVersion: 'P1D' },
      'as_of_micros and relative_version',
    ],
    ['gap filling of raw points', { fill: 'FILL_LINEAR' }, 'fill and granularity'],
    ['a minimum count for raw points', { minCount: 3 }, 'min_count and granularity'],
    ['a horizon that is not a duration', { horizon: '24' }, 'ISO 8601 duration'],
    ['an unknown relative version', { relativeVersion: 'soon' }, 'must be "Current"'],
    ['an unknown time zone', { timeZoneId: 'Mars/Base' }, 'time zone'],
    ['a negative minimum count', { minCount: -1 }, 'must not be negative'],
    ['an unknown granularity', { granularity: 99 }, 'must be one of'],
    ['a unit of another family', { unitId: 20 }, 'cannot be converted'],
  ])('%s', async (_what, request, text) => {
    const failure = await reader.refusalOf({ variableIds: [revised], ...request });
    expect(failure).toMatchObject({ code: GrpcStatus.INVALID_ARGUMENT, reason: 'invalid_input' });
    expect(failure.message).toContain(text);
  });
});
