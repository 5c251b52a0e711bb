/** For random requests, gRPC `ReadLast` gives the same result as REST `GET /data` (R-G2). */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createGrpcReader, type GrpcReader, type PointRows, toFailure } from '../../support/clients/grpc-client.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const KWH = 8;
const WH = 7;
const START = Date.UTC(2026, 2, 27);
const HOUR = 3_600_000;

let api: TestApi;
const readers: (readonly [TestClient, GrpcReader])[] = [];
let variableIds: readonly number[];
let sourceIds: readonly number[];
/** Instants before, between and after the writes, in microseconds. */
const instants: number[] = [];

async function lastMicros(): Promise<number> {
  const { rows } = await api.database.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000000)::int8 as now',
  );
  return rows[0]?.now ?? 0;
}

beforeAll(async () => {
  api = await startTestApi();
  const seen = await createStructure(api.manager, { unitId: KWH, isVersioned: true });
  const hidden = await createStructure(api.manager);
  const others = [
    await createVariable(api.manager, seen.sourceId, { unitId: KWH }),
    await createVariable(api.manager, seen.sourceId),
  ];
  const foreign = await createStructure(api.stranger);
  const user = await api.signIn('ursula', 'USER', { sites: [seen.siteId] });
  for (const client of [api.manager, user]) readers.push([client, createGrpcReader(api.grpcAddress, client.token)]);
  variableIds = [seen.variableId, ...others, hidden.variableId, foreign.variableId, 2 ** 31 - 1];
  sourceIds = [seen.sourceId, hidden.sourceId, foreign.sourceId, 2 ** 31 - 1];
  for (const version of ['V1', undefined, 'V2', 'V1']) {
    instants.push(await lastMicros());
    const data = Array.from({ length: 12 }, (_, hour) => ({
      date: new Date(START + hour * 7 * HOUR).toISOString(),
      value: hour + 100 * instants.length,
      ...(hour % 3 > 0 && { tags: { quality: hour % 3 === 1 ? 'good' : 'bad' } }),
    }));
    const elements = variableIds.slice(0, 4).map((variableId) => ({ variableId, data, ...(version && { version }) }));
    expect((await api.manager.post('/api/data', elements)).status).toBe(200);
    await api.ingest();
  }
  instants.push(await lastMicros());
});
afterAll(async () => {
  for (const [, reader] of readers) reader.close();
  await api?.close();
});

const optional = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
/** Generates values, most of them valid. */
const mostly = <Value>(good: readonly Value[], bad: readonly Value[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: fc.constantFrom(...bad) });
const dateMicros = fc
  .integer({ min: -2, max: 90 })
  .map((hour) => (START + hour * HOUR) * 1000)
  // Includes a date before the first storable date.
  .chain((micros) => mostly([micros, micros + 1], [-9e15]));

const question = fc.record({
  variables: fc.array(mostly([0, 1, 2], [3, 4, 5]), { maxLength: 4 }),
  source: optional(mostly([0], [1, 2, 3])),
  count: fc.integer({ min: 1, max: 6 }),
  fromMicros: optional(dateMicros),
  toMicros: optional(dateMicros),
  includeToBoundary: fc.boolean(),
  versions: fc.array(fc.constantFrom('V1', 'V2', 'V9', ''), { maxLength: 2 }),
  state: optional(
    fc.oneof(
      fc.record({ asOf: fc.nat(4) }),
      fc.record({ relative: mostly(['Current', 'last 3 days', 'P1M', 'PT0S', ''], ['soon', 'last week']) }),
      fc.record({ asOf: fc.nat(4), relative: fc.constantFrom('Current', 'P3D') }),
    ),
  ),
  horizon: optional(mostly(['P1D', '', 'PT1H'], ['-P1D', '24'])),
  tags: optional(
    fc.constantFrom({ quality: 'good' }, { quality: 'good', version: 'V1' }, { quality: '' }, { other: 'x' }),
  ),
  everyVersion: fc.boolean(),
  timeZoneId: optional(mostly(['Europe/Brussels', 'Romance Standard Time', ''], ['Nowhere'])),
  unitId: optional(mostly([KWH, WH], [1, 999])),
});
type Question = typeof question extends fc.Arbitrary<infer Value> ? Value : never;

type State = { readonly asOf?: number; readonly relative?: string } | undefined;

function toMessage(asked: Question): object {
  const { variables, source, state, everyVersion, ...rest } = asked;
  const { asOf, relative } = (state ?? {}) as NonNullable<State>;
  const { versions, tags, count, includeToBoundary, ...optionals } = rest;
  return {
    ...Object.fromEntries(Object.entries(optionals).filter(([, value]) => value !== undefined)),
    ...{ versions, count, includeToBoundary, everyVersion, tags: tags ?? {} },
    variableIds: variables.map((index) => variableIds[index]),
    ...(source !== undefined && { sourceId: sourceIds[source] }),
    ...(asOf !== undefined && { asOfMicros: instants[asOf] }),
    ...(relative !== undefined && { relativeVersion: relative }),
  };
}

/** Formats an instant as ISO 8601 to the microsecond. */
function toIso(micros: number): string {
  const millis = Math.floor(micros / 1000);
  return new Date(millis).toISOString().replace('Z', `${String(micros - millis * 1000).padStart(3, '0')}Z`);
}

function toQuery(asked: Question): string {
  const { variables, source, count, state } = asked;
  const { asOf, relative } = (state ?? {}) as NonNullable<State>;
  const members: Record<string, string | number | boolean | undefined> = {
    ...{ pageNumber: 0, itemsPerPage: count, pagingOrder: 'DESC' },
    ...{ sourceId: source === undefined ? undefined : sourceIds[source], includeToBoundary: asked.includeToBoundary },
    ...(asked.fromMicros !== undefined && { from: toIso(asked.fromMicros) }),
    ...(asked.toMicros !== undefined && { to: toIso(asked.toMicros) }),
    ...(asOf !== undefined && { asOf: toIso(instants[asOf] ?? 0) }),
    ...{ relativeVersion: relative, horizon: asked.horizon, unitId: asked.unitId, timeZoneId: asked.timeZoneId },
  };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) if (value !== undefined) query.append(name, String(value));
  for (const index of variables) query.append('variableId', String(variableIds[index]));
  for (const version of asked.versions) query.append('version', version);
  for (const [key, value] of Object.entries(asked.tags ?? {})) query.append('tags', `${key}:${value}`);
  if (asked.everyVersion) query.append('versions', 'all');
  return query.toString();
}

interface Row {
  readonly variableId: number;
  readonly date: string;
  readonly rawValue: number;
  readonly unitId?: number | null;
  readonly version?: string;
  readonly versionTimestamp?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

const microsOf = (text: string): number => {
  const fraction = (/\.(\d+)/.exec(text)?.[1] ?? '').padEnd(6, '0');
  return Date.parse(text.replace(/\.\d+/, '')) * 1000 + Number(fraction);
};

const fromRest = (rows: readonly Row[]) =>
  rows.map(({ variableId, date, rawValue, unitId, version, versionTimestamp, tags }) => ({
    ...{ variableId, date: microsOf(date), value: rawValue, unitId: unitId ?? 0, version: version ?? null },
    ...{ versionTimestamp: microsOf(versionTimestamp ?? ''), tags: tags ?? {} },
  }));

const fromGrpc = (points: PointRows) =>
  points.variableIds.map((variableId, row) => ({
    ...{ variableId, date: points.dateMicros[row], value: points.values[row], unitId: points.unitIds[row] ?? 0 },
    version: points.versions[(points.versionCodes[row] ?? 0) - 1] ?? null,
    versionTimestamp: points.versionTimestampMicros[row],
    tags: JSON.parse(points.tags[(points.tagCodes[row] ?? 0) - 1] ?? '{}') as object,
  }));

/**
 * Asks the question over REST and over gRPC.
 * @returns one result for each: the rows, or the error code when the request was refused.
 */
async function ask(asked: Question, [client, reader]: readonly [TestClient, GrpcReader]) {
  const rest = await client.get<readonly Row[] & { code?: string }>(`/data?${toQuery(asked)}`);
  const grpc = await reader.readLast(toMessage(asked)).then(fromGrpc, (error) => toFailure(error).reason);
  return { rest: rest.status === 200 ? fromRest(rest.body) : rest.body.code, grpc };
}

it('grpc: ReadLast gives the same points or the same error code as GET /data for the last points (R-G1, R-G2, R-J1, R-J3)', async () => {
  let filled = 0;
  const check = async (asked: Question, caller: number) => {
    const reader = readers[caller];
    if (!reader) throw new Error(`${caller} is not a reader`);
    const { rest, grpc } = await ask(asked, reader);
    expect(grpc, JSON.stringify(toMessage(asked))).toEqual(rest);
    if (Array.isArray(rest) && rest.length > 0) filled += 1;
  };
  // Most requests find nothing or are refused. So the test makes at least 300 requests, and continues until more than
  // 50 requests have returned points, or until it has made 1,000 requests.
  for (let round = 1; round <= 3 || (filled <= 50 && round <= 10); round += 1) {
    await fc.assert(fc.asyncProperty(question, fc.nat(1), check), { numRuns: 100 });
  }
  expect(filled).toBeGreaterThan(50);
}, 120_000);
