/**
 * Compares the time of `GET /data` with the time in which the database alone sends the same rows: by COPY for points,
 * by plain SQL for buckets and last points. The last figure is the time from a push of corrected points until a read
 * returns them.
 */
import { Agent, get } from 'node:http';
import { to as copyTo } from 'pg-copy-streams';
import { type Database, withConnection } from '../../../src/platform/database/database.ts';
import type { ApiClient } from '../../support/fixtures/sign-in.ts';
import { createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';
import { type Figure, figure } from '../report.ts';

const SERIES = 40;
const POINTS = 35_040;
const ROUNDS = 9;
const ZONE = 'Europe/Brussels';
const YEAR = 'from=2025-01-01T00:00:00Z&to=2026-01-01T00:00:00Z';
const IN_YEAR = `date >= '2025-01-01Z' and date < '2026-01-01Z'`;
const CORRECTED_POINTS = 96;
/** Limit of the time from a push of corrected values until a read returns these values. */
const READABLE_MS = 50;

interface Measured {
  readonly api: ApiClient;
  readonly http: string;
}

export async function benchHttpReads(database: Database, { api, http }: Measured): Promise<readonly Figure[]> {
  const { sourceId } = await createSiteAndSource(api);
  const ids: number[] = [];
  for (let index = 0; index < SERIES; index += 1) ids.push(await createVariable(api, sourceId));
  await addYear(database, ids);
  const agent = new Agent({ keepAlive: true });
  const headers = { authorization: `Bearer ${api.token ?? ''}` };
  const read = (query: string) => readBytes(`${http}/data?${query}`, agent, headers);
  try {
    const figures: Figure[] = [];
    for (const variableIds of [ids.slice(0, 1), ids]) {
      for (const { name, query, limit } of casesOf(variableIds)) {
        const ours = () => read(`${variableIds.map((id) => `variableId=${id}`).join('&')}&${query}`);
        figures.push(await compare(`${name} of ${variableIds.length} series`, ours, () => runLimit(database, limit)));
      }
    }
    return [...figures, await benchCorrection(api, read, ids[0] ?? 0)];
  } finally {
    agent.destroy();
  }
}

/** The SQL statement with which a read is compared. With `copyFormat`, COPY sends the result in that format. */
interface Limit {
  readonly sql: string;
  readonly copyFormat?: 'csv' | 'binary';
  readonly words: string;
}

interface ReadCase {
  readonly name: string;
  readonly query: string;
  readonly limit: Limit;
}

function casesOf(ids: readonly number[]): readonly ReadCase[] {
  const each = (columns: string, tail: string) =>
    `select ${columns} from unnest('{${ids.join()}}'::int[]) variable (id)
     cross join lateral (select * from point where variable_id = variable.id ${tail}) wanted`;
  const inYear = `and ${IN_YEAR} order by date`;
  const all = each('wanted.*', inYear);
  const three = each('wanted.variable_id, wanted.date, wanted.value', inYear);
  const day = `date_trunc('day', date, '${ZONE}')`;
  const days = `select variable_id, ${day}, sum(value) from point
    where variable_id = any('{${ids.join()}}') and ${IN_YEAR} group by 1, 2 order by 1, 2`;
  const asCsv = { copyFormat: 'csv', words: 'of COPY TO STDOUT as CSV' } as const;
  const asBinary = { copyFormat: 'binary', words: 'of COPY TO STDOUT as binary' } as const;
  return [
    { name: 'a year as Arrow', query: `${YEAR}&format=arrow`, limit: { sql: all, ...asBinary } },
    {
      name: 'a year as CSV of variable, date and value',
      query: `${YEAR}&format=csv&displayLevel=ValueVariableDate`,
      limit: { sql: three, ...asCsv },
    },
    { name: 'a year as JSON', query: `${YEAR}&format=json`, limit: { sql: all, ...asCsv } },
    { name: 'a year as JSON by columns', query: `${YEAR}&displayLevel=Columns`, limit: { sql: all, ...asCsv } },
    {
      name: `civil days of ${ZONE} of a year`,
      query: `${YEAR}&granularity=Day&aggregation=SUM&timeZoneId=${ZONE}`,
      limit: { sql: days, words: 'of the same SQL' },
    },
    {
      name: 'the last point',
      query: 'pageNumber=0&itemsPerPage=1&pagingOrder=DESC',
      limit: { sql: each('wanted.*', 'order by date desc limit 1'), words: 'of the same SQL' },
    },
  ];
}

async function compare(name: string, ours: () => Promise<number>, limit: () => Promise<string>): Promise<Figure> {
  const pairs: (readonly [number, number])[] = [];
  let words = '';
  for (let round = 0; round <= ROUNDS; round += 1) {
    const oursMs = await timed(ours);
    const limitMs = await timed(async () => {
      words = await limit();
    });
    // The first round warms caches.
    if (round > 0) pairs.push([oursMs, limitMs]);
  }
  return figure(name, words, 'ms', pairs);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** Runs the SQL statement that a read is compared with. @returns the words that name this statement in the report. */
async function runLimit(database: Database, { sql, copyFormat, words }: Limit): Promise<string> {
  if (copyFormat === undefined) await database.query(sql);
  else {
    await withConnection(database, async (connection) => {
      for await (const _piece of connection.query(copyTo(`copy (${sql}) to stdout (format ${copyFormat})`)));
    });
  }
  return words;
}

/** @returns the number of bytes in the body of an answer. @throws {Error} for any status but 200. */
function readBytes(address: string, agent: Agent, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(address, { agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${address}: ${response.statusCode}`));
      let bytes = 0;
      response.on('data', (piece: Buffer) => {
        bytes += piece.length;
      });
      response.on('end', () => resolve(bytes));
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}

/**
 * Each round pushes new values for the last day. The values have one digit more than in the previous round. Then the
 * round reads that day again and again until the size of the answer changes.
 */
async function benchCorrection(api: ApiClient, read: (query: string) => Promise<number>, id: number): Promise<Figure> {
  const day = `variableId=${id}&from=2025-12-31T00:00:00Z&to=2026-01-01T00:00:00Z&format=csv&displayLevel=ValueVariableDate`;
  const pairs: (readonly [number, number])[] = [];
  for (let round = 0; round <= 2 * ROUNDS; round += 1) {
    const before = await read(day);
    const data = Array.from({ length: CORRECTED_POINTS }, (_, index) => ({
      date: new Date(Date.UTC(2025, 11, 31) + index * 900_000).toISOString(),
      value: 10 ** round,
    }));
    const startMs = performance.now();
    await api.call('POST', '/api/data', [{ variableId: id, data }]);
    while ((await read(day)) === before);
    if (round > 0) pairs.push([performance.now() - startMs, READABLE_MS]);
  }
  return figure('a correction of a day until it is readable', `of the ${READABLE_MS} ms allowed`, 'ms', pairs);
}

async function addYear(database: Database, ids: readonly number[]): Promise<void> {
  await database.query(
    `insert into point (date, value, version_timestamp, variable_id, version_tag_id, tag_set_id)
     select timestamptz '2025-01-01Z' + n * interval '15 minutes', round((1000 * sin(n))::numeric, 3), now(), id, 0, 0
     from unnest($1::int[]) id, generate_series(0, $2::int - 1) n`,
    [ids, POINTS],
  );
  await database.query(
    `insert into series (variable_id, max_date, last_version_timestamp, version_bound)
     select id, '2025-12-31 23:45Z', now(), 1 from unnest($1::int[]) id`,
    [ids],
  );
  await database.query('vacuum (analyze) point');
}
