/**
 * Plays scenarios in the real store with its writer and reader. When a scenario gives the instant of a write, the
 * VersionTimestamps of the write are shifted afterwards, because the clock of the database cannot be set.
 */
import { createAccount } from '../../../src/accounts/operator/create-account.ts';
import { defaultVersion } from '../../../src/calculation/run/default-version-rules.ts';
import { planOutput } from '../../../src/calculation/run/output-rules.ts';
import type { CodedText } from '../../../src/calculation/sandbox/sandbox-types.ts';
import {
  type Database,
  openDatabase,
  type Transaction,
  withTransaction,
} from '../../../src/platform/database/database.ts';
import { createLog } from '../../../src/platform/log.ts';
import { countBuckets, streamAggregates } from '../../../src/points/buckets/aggregate-points.ts';
import type { Buckets } from '../../../src/points/buckets/bucket.ts';
import { type Dictionary, openDictionary } from '../../../src/points/dictionary.ts';
import { encodeReadings } from '../../../src/points/encode-readings.ts';
import { findLabelIds } from '../../../src/points/find-label-ids.ts';
import { type Labels, toLabels } from '../../../src/points/label-rules.ts';
import type { PointSelection, VersionChoice } from '../../../src/points/point.ts';
import { countPoints, streamPoints } from '../../../src/points/read/read-points.ts';
import { deletePoints, findRemoved } from '../../../src/points/remove/delete-points.ts';
import { purgeVersions } from '../../../src/points/remove/purge-versions.ts';
import { writePoints } from '../../../src/points/write/write-points.ts';
import { parseDuration } from '../../../src/selection/duration-rules.ts';
import { startOfDay } from '../../../src/structure/catalogue/time-zones.ts';
import { listVersions } from '../../../src/structure/versions/list-versions.ts';
import { copyOf } from '../../support/models/model-entries.ts';
import { createTestDatabase } from '../../support/services/stack.ts';
import { resolveChoice } from './choices.ts';
import { parseInstant } from './instants.ts';
import type { Action, Aggregation, Moment, Period, PushBody, Query, ScriptOutput } from './syntax.ts';
import { openSpans, type Row, type Spans, type VersionLine, type World } from './world.ts';

export interface ScenarioStore {
  /** Creates a world whose account is new and has no variables. */
  openWorld(): Promise<StoreWorld>;
  close(): Promise<void>;
}

export interface StoreWorld extends World {
  /** @returns the instant from which the states of a variable are complete (R-F9); null when no version was removed. */
  historyFrom(variable: string): Promise<number | null>;
}

interface Store {
  readonly database: Database;
  readonly dictionary: Dictionary;
  readonly accountId: number;
  readonly sourceId: number;
  readonly ids: Map<string, number>;
  readonly spans: Spans;
}

export async function openScenarioStore(): Promise<ScenarioStore> {
  const test = await createTestDatabase();
  const log = createLog('silent', 'test');
  const database = openDatabase({ url: test.url, poolSize: 4, applicationName: 'scenarios', log });
  const dictionary = openDictionary(database);
  return {
    openWorld: async () => {
      const accountId = await createAccount(database, { name: 'North' });
      const { rows } = await database.query<{ id: number }>(ADD_SOURCE, [accountId]);
      const sourceId = rows[0]?.id ?? 0;
      return toWorld({ database, dictionary, accountId, sourceId, ids: new Map(), spans: openSpans() });
    },
    close: async () => {
      await database.end();
      await test.drop();
    },
  };
}

const ADD_SOURCE = `
  with made as (insert into site (account_id, name, time_zone_id) values ($1, 'Mill', 'UTC') returning id)
  insert into source (account_id, site_id, name) select $1, id, 'Meter' from made returning id`;

const ADD_VARIABLE = `insert into variable (account_id, source_id, is_versioned, version_limit)
                      values ($1, $2, $3, $4) returning id`;

function toWorld(store: Store): StoreWorld {
  const { database, spans } = store;
  return {
    perform: (action) => act(store, action),
    read: (query) => readRows(store, query),
    count: (query) => {
      const { selection, buckets } = toRead(store, query);
      return withTransaction(database, (it) =>
        buckets ? countBuckets(it, selection, buckets) : countPoints(it, selection),
      );
    },
    versions: async (name) => (await listVersions(database, idOf(store, name))).map(toLine),
    remove: (name, period, isWhatIf) => remove(store, name, period, isWhatIf),
    spanOf: (label) => spans.get(label),
    historyFrom: async (name) => {
      const { rows } = await database.query<{ micros: number | null }>(
        `select ${MICROS_OF('history_from')} as micros from series where variable_id = $1`,
        [idOf(store, name)],
      );
      return rows[0]?.micros ?? null;
    },
  };
}

function idOf({ ids }: Store, name: string): number {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`no variable ${name}`);
  return id;
}

async function act(store: Store, action: Action): Promise<void> {
  const { database, accountId } = store;
  switch (action.kind) {
    case 'account-limit':
      await database.query('update account set version_limit = $2 where id = $1', [accountId, action.limit]);
      return;
    case 'variable': {
      const settings = [accountId, store.sourceId, action.isVersioned, action.limit];
      const { rows } = await database.query<{ id: number }>(ADD_VARIABLE, settings);
      store.ids.set(action.variable, rows[0]?.id ?? 0);
      return;
    }
    case 'toggle':
      await set(store, action.variable, 'is_versioned', action.isVersioned);
      return;
    case 'limit':
      await set(store, action.variable, 'version_limit', action.limit);
      return;
    case 'write':
      await push(store, action.bodies, action.moment);
      return;
    case 'calculate':
      await calculate(store, action.variable, action.atMicros, action.output);
      return;
    case 'copy': {
      const latest: Query = {
        variables: [action.input],
        choice: { isEvery: false },
        isToIncluded: false,
        order: 'asc',
      };
      const rows = await readRows(store, latest);
      const output = copyOf(rows.map((row) => ({ ...row, value: row.value ?? Number.NaN, versionMicros: 0 })));
      await calculate(store, action.variable, action.atMicros, output);
      return;
    }
    case 'purge': {
      const variableIds = action.variables.map((name) => idOf(store, name));
      await withTransaction(database, (transaction) => purgeVersions(transaction, variableIds));
    }
  }
}

async function set(
  store: Store,
  name: string,
  column: 'is_versioned' | 'version_limit',
  value: unknown,
): Promise<void> {
  await store.database.query(`update variable set ${column} = $2 where id = $1`, [idOf(store, name), value]);
}

async function push(store: Store, bodies: readonly PushBody[], moment: Moment | undefined): Promise<void> {
  const batches = await Promise.all(bodies.map((body) => encode(store, labelled(store, body))));
  const names = bodies.flatMap((body) => body.map(({ variable }) => variable));
  await writeAt(store, names, moment, batches);
}

interface LabelledEntry {
  readonly variableId: number;
  readonly dateMicros: number;
  readonly value: number;
  readonly labels: Labels;
}

/**
 * Gives each reading of a body its version and tags. The version of the reading overrides the version of the element,
 * but the tags of the element override the tags of the reading (R-D3).
 */
function labelled(store: Store, body: PushBody): readonly LabelledEntry[] {
  return body.flatMap(({ variable, readings, ...element }) =>
    readings.map(({ dateMicros, value, ...reading }) => {
      const labels = toLabels(reading.version ?? element.version, { ...reading.tags, ...element.tags });
      return { variableId: idOf(store, variable), dateMicros, value, labels };
    }),
  );
}

async function encode({ dictionary, accountId }: Store, entries: readonly LabelledEntry[]): Promise<Buffer> {
  const idsOf = await findLabelIds(dictionary, accountId, new Set(entries.map(({ labels }) => labels)));
  return encodeReadings(entries.map(({ labels, ...entry }) => ({ ...entry, ...idsOf(labels) })));
}

async function calculate(store: Store, name: string, atMicros: number, output: ScriptOutput): Promise<void> {
  const variableId = idOf(store, name);
  const { rows } = await store.database.query<{ isVersioned: boolean }>(
    'select is_versioned as "isVersioned" from variable where id = $1',
    [variableId],
  );
  const planned = planOutput(
    {
      dates: Float64Array.from(output.rows, ({ dateMicros }) => dateMicros / 1_000_000),
      values: Float64Array.from(output.rows, ({ value }) => value),
      versions: toColumn(output.versionColumn, output.rows, ({ version }) => version),
      tags: toColumn(output.tagsColumn, output.rows, ({ tags }) => tags),
    },
    { isVersioned: rows[0]?.isVersioned ?? false, defaultVersion: defaultVersion(atMicros / 1000) },
  );
  if (planned.kind === 'invalid') throw new Error(planned.message);
  const entries = [...planned.output.slices()].flat().map((point) => ({ variableId, ...point }));
  await writeAt(store, [name], { kind: 'instant', micros: atMicros }, [await encode(store, entries)]);
}

function toColumn<Item>(
  column: readonly string[] | undefined,
  rows: readonly Item[],
  textOf: (row: Item) => string | undefined,
): CodedText | null {
  const texts = column ?? (rows.some((row) => textOf(row) !== undefined) ? rows.map((row) => textOf(row) ?? '') : null);
  return texts && { codes: Int32Array.from(texts.keys()), texts };
}

/**
 * Writes the batches. If `moment` is an instant, the first new VersionTimestamp of each variable is `moment`. If the
 * variable already has VersionTimestamps at or after `moment`, the first new one is 1 µs after the last of these.
 */
async function writeAt(
  { database, ids, spans }: Store,
  names: readonly string[],
  moment: Moment | undefined,
  batches: readonly Buffer[],
): Promise<void> {
  const variableIds = [...new Set(names)].map((name) => ids.get(name) ?? 0);
  await withTransaction(database, async (transaction) => {
    const before = new Map(await lastStamps(transaction, variableIds));
    const { versionTimestamp } = await writePoints(transaction, batches);
    const written: number[] = [];
    for (const variableId of variableIds) {
      const after = before.get(variableId);
      const earliest = after === undefined ? Number.NEGATIVE_INFINITY : after + 1;
      const given = Math.max(versionTimestamp, earliest);
      if (moment?.kind === 'instant') {
        await moveStamps(transaction, variableId, given, Math.max(moment.micros, earliest) - given);
      }
      written.push(...(await stampsAfter(transaction, variableId, after ?? null)));
    }
    if (written.length > 0) spans.add(moment, { firstMicros: Math.min(...written), lastMicros: Math.max(...written) });
  });
}

const MICROS_OF = (column: string) => `(extract(epoch from ${column}) * 1000000)::int8`;
const INSTANT_OF = (parameter: string) => `to_timestamp(0) + ${parameter}::int8 * interval '1 microsecond'`;

async function lastStamps(
  transaction: Transaction,
  variableIds: readonly number[],
): Promise<readonly (readonly [number, number])[]> {
  const { rows } = await transaction.query<{ id: number; last: number }>(
    `select variable_id as id, ${MICROS_OF('last_version_timestamp')} as last from series
     where variable_id = any($1::int[]) and last_version_timestamp > '-infinity'`,
    [variableIds],
  );
  return rows.map(({ id, last }) => [id, last]);
}

async function stampsAfter(
  transaction: Transaction,
  variableId: number,
  after: number | null,
): Promise<readonly number[]> {
  const { rows } = await transaction.query<{ stamp: number }>(
    `select ${MICROS_OF('version_timestamp')} as stamp
     from (select * from point union all select * from point_version) version
     where variable_id = $1 and ($2::int8 is null or version_timestamp > ${INSTANT_OF('$2')})`,
    [variableId, after],
  );
  return rows.map(({ stamp }) => stamp);
}

/** @param first the lowest VersionTimestamp of the write. Lower VersionTimestamps are not changed. */
async function moveStamps(transaction: Transaction, variableId: number, first: number, shift: number): Promise<void> {
  const values = [variableId, first, shift];
  const moved = (column: string) => `${column} + $3::int8 * interval '1 microsecond'`;
  const where = (column: string) => `where variable_id = $1 and ${column} >= ${INSTANT_OF('$2')}`;
  for (const table of ['point', 'point_version']) {
    // Deletes the rows and inserts them again: TimescaleDB 2.28 and newer refuse to update a unique column of a
    // compressed chunk.
    await transaction.query(
      `with old as (delete from ${table} ${where('version_timestamp')} returning *)
       insert into ${table} (variable_id, date, value, version_timestamp, version_tag_id, tag_set_id)
       select variable_id, date, value, ${moved('version_timestamp')}, version_tag_id, tag_set_id from old`,
      values,
    );
  }
  for (const column of ['last_version_timestamp', 'history_from']) {
    await transaction.query(`update series set ${column} = ${moved(column)} ${where(column)}`, values);
  }
}

async function readRows(store: Store, query: Query): Promise<readonly Row[]> {
  const { database, dictionary, ids } = store;
  const names = new Map([...ids].map(([name, id]) => [id, name]));
  const { selection, buckets } = toRead(store, query);
  const rows: Row[] = [];
  if (buckets) {
    for await (const { variableId, dates, values } of streamAggregates(database, selection, buckets)) {
      const variable = names.get(variableId) ?? '';
      for (const [index, dateMicros] of dates.entries()) {
        const value = values[index] ?? Number.NaN;
        const labels = { version: null, tags: {}, versionMicros: null };
        rows.push({ variable, dateMicros, value: Number.isNaN(value) ? null : value, ...labels });
      }
    }
    return rows;
  }
  for await (const chunk of streamPoints(database, selection)) {
    const labels = await dictionary.labelsOf([chunk]);
    for (const [index, dateMicros] of chunk.dates.entries()) {
      rows.push({
        variable: names.get(chunk.variableId) ?? '',
        dateMicros,
        value: chunk.values[index] ?? null,
        version: labels.versionTag(chunk.versionTagIds[index] ?? 0),
        tags: JSON.parse(labels.tags(chunk.tagSetIds[index] ?? 0) ?? '{}'),
        versionMicros: chunk.versionTimestamps[index] ?? null,
      });
    }
  }
  return rows;
}

function toRead(store: Store, query: Query): { readonly selection: PointSelection; readonly buckets?: Buckets } {
  const { page, aggregation } = query;
  const selection: PointSelection = {
    variableIds: query.variables.map((name) => idOf(store, name)),
    version: toChoice(store, query),
    order: query.order === 'desc' ? 'DESC' : 'ASC',
    ...toPeriod(query),
    ...(page && { limit: page.size, offset: page.number * page.size }),
  };
  return { selection, ...(aggregation && { buckets: toBuckets(aggregation) }) };
}

function toChoice({ spans }: Store, { choice }: Query): VersionChoice {
  const { knownMicros, horizon, versionTags, tags, isEvery } = resolveChoice(choice, spans);
  const duration = horizon && parseDuration(horizon.duration);
  return {
    isEvery,
    ...(knownMicros !== undefined && { asOfMicros: knownMicros }),
    ...(horizon && duration && { horizon: { duration, timeZoneId: horizon.timeZoneId } }),
    ...(versionTags && { versionTags }),
    ...(tags && { tags }),
  };
}

function toPeriod({ fromMicros, toMicros, isToIncluded }: Period) {
  return { isToIncluded, ...(fromMicros !== undefined && { fromMicros }), ...(toMicros !== undefined && { toMicros }) };
}

function toBuckets({ aggregate, bucket, timeZoneId, fill, minCount }: Aggregation): Buckets {
  return { bucket, timeZoneId, functionOf: () => aggregate, startOfDay: startOfDay(timeZoneId), fill, minCount };
}

async function remove(store: Store, name: string, period: Period, isWhatIf: boolean): Promise<number> {
  const removal = { variableIds: [idOf(store, name)], ...toPeriod(period) };
  const ranges = await withTransaction(store.database, (transaction) =>
    isWhatIf ? findRemoved(transaction, removal) : deletePoints(transaction, removal),
  );
  return ranges.reduce((sum, { count }) => sum + count, 0);
}

function toLine(version: Awaited<ReturnType<typeof listVersions>>[number]): VersionLine {
  return {
    version: version.version,
    count: version.pointCount,
    firstMicros: parseInstant(version.firstVersionTimestamp) ?? Number.NaN,
    lastMicros: parseInstant(version.lastVersionTimestamp) ?? Number.NaN,
  };
}
