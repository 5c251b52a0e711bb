/**
 * Measures reads from a structure of a million variables:
 * - pages: the time to read a filtered page over HTTP, compared with the SELECT of this page
 * - targets: the time to find the targets of a push of 10,000 elements, compared with LOOK_UP_MS and CACHED_MS
 */
import http from 'node:http';
import pg from 'pg';
import type { Caller } from '../../../src/identity/caller/caller.ts';
import { type Database, withTransaction } from '../../../src/platform/database/database.ts';
import { openTargetCache } from '../../../src/push/target-cache.ts';
import type { ApiClient } from '../../support/fixtures/sign-in.ts';
import { addStoredSource } from '../../support/fixtures/stored-structure.ts';
import { type Figure, figure } from '../report.ts';

const SOURCES = 1000;
const VARIABLES = 1000;
const ELEMENTS = 10_000;
const ROUNDS = 40;
/**
 * Number of rounds before the first measured round. In these rounds, V8 compiles the code and the database fills its
 * caches.
 */
const WARM_UP = 60;
const LOOK_UP_MS = 200;
const CACHED_MS = 20;
const PAGE = 100;

export interface StructureBench {
  readonly database: Database;
  readonly url: string;
  readonly api: ApiClient;
  /** Origin of the API. */
  readonly origin: string;
  readonly accountId: number;
}

/** Adds a million variables to the account, and measures listings and searches. The service at `origin` has the role api. */
export async function benchStructure({
  database,
  url,
  api,
  origin,
  accountId,
}: StructureBench): Promise<readonly Figure[]> {
  await seed(database, accountId);
  const bare = new pg.Client({ connectionString: url });
  await bare.connect();
  try {
    return [
      ...(await benchPages(api, origin, bare, accountId)),
      await benchTargets(database, accountId, LOOK_UP_MS, true),
      await benchTargets(database, accountId, CACHED_MS, false),
    ];
  } finally {
    await bare.end();
  }
}

/** Adds SOURCES sources of VARIABLES variables each, without running triggers or foreign-key checks. */
async function seed(database: Database, accountId: number): Promise<void> {
  const sourceId = await addStoredSource(database, accountId);
  await withTransaction(
    database,
    async (transaction) => {
      await transaction.query('set local session_replication_role = replica');
      await transaction.query(
        `insert into source (account_id, site_id, name, serial_number)
         select account_id, site_id, 'Meter ' || number, 'SN-' || number from source, generate_series(1, $2::int) number
         where id = $1`,
        [sourceId, SOURCES],
      );
      await transaction.query(
        `insert into variable (account_id, source_id, name, mapping_config)
         select account_id, id, 'Variable ' || number || ' of ' || name, 'm-' || number
         from source, generate_series(1, $2::int) number where account_id = $1 and serial_number like 'SN-%'`,
        [accountId, VARIABLES],
      );
    },
    { statementTimeoutMs: 300_000 },
  );
  await database.query('vacuum (analyze) variable, source');
}

const PAGES = [
  ['of the first variables', "name startswith 'Variable'", `variable.name ilike 'Variable%'`],
  ['of one variable in a thousand', "mappingConfig = 'm-77'", `variable.mapping_config = 'm-77'`],
  ['of the variables of a name', "name ~ '99 of Meter 99'", `variable.name ilike '%99 of Meter 99%'`],
] as const;

async function benchPages(
  api: ApiClient,
  origin: string,
  bare: pg.Client,
  accountId: number,
): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const getPlain = (path: string) => getJson(origin + path, agent, api.token ?? '');
  for (const [name, filter, condition] of PAGES) {
    const path = `/variables?displayLevel=Verbose&itemsPerPage=${PAGE}&customFilter=${encodeURIComponent(filter)}`;
    const select = `select variable.*, source.name as "sourceName" from variable join source on source.id = variable.source_id
      where variable.account_id = ${accountId} and ${condition} order by variable.id limit ${PAGE}`;
    const pairs: (readonly [number, number])[] = [];
    const fetched: (readonly [number, number])[] = [];
    const warmUp = figures.length === 0 ? WARM_UP : 1;
    for (let round = -warmUp; round < ROUNDS; round += 1) {
      const ours = await timeOf(async () => (await getPlain(path)).length);
      const byFetch = await timeOf(async () => (await api.call<unknown[]>('GET', path)).length);
      const limit = await timeOf(async () => (await bare.query(select)).rows.length);
      if (round < 0) continue;
      pairs.push([ours, limit]);
      fetched.push([byFetch, limit]);
    }
    const page = `a page of ${PAGE} ${name}, of a million`;
    figures.push(figure(page, 'of the same SELECT', 'ms', pairs));
    figures.push(figure(`${page}, by fetch and with gzip`, 'of the same SELECT', 'ms', fetched));
  }
  agent.destroy();
  return figures;
}

/**
 * Sends a GET request without `Accept-Encoding`, so that the answer is not compressed. The bench compares the request
 * with a SELECT, whose rows are not compressed either.
 */
function getJson(url: string, agent: http.Agent, token: string): Promise<readonly unknown[]> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece)).on('error', reject);
      response.on('end', () => resolve(JSON.parse(Buffer.concat(pieces).toString()) as readonly unknown[]));
    });
    request.on('error', reject);
  });
}

async function benchTargets(database: Database, accountId: number, limitMs: number, isFresh: boolean): Promise<Figure> {
  const targets = openTargetCache(database);
  const caller: Caller = {
    ...{ userId: 'bench', userName: 'bench', accountId, role: 'MANAGER', sites: 'all' },
    ...{ permissions: new Set<string>(), scopes: new Set<string>() },
  };
  const elements = Array.from({ length: ELEMENTS }, (_, index) => ({
    sourceSerialNumber: `SN-${1 + (index % SOURCES)}`,
    mappingConfig: `m-${1 + ((index * 7) % VARIABLES)}`,
  }));
  const pairs: (readonly [number, number])[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const ours = await timeOf(async () => {
      const resolved = await targets.resolve(caller, elements, isFresh);
      return resolved.targets.filter((target) => 'variableId' in target).length / PAGE;
    });
    if (round > 0) pairs.push([ours, limitMs]);
  }
  const how = isFresh ? 'looked up' : 'cached';
  return figure(
    `targets of ${ELEMENTS} elements by serial number and mappingConfig, ${how}`,
    'of the limit',
    'ms',
    pairs,
  );
}

/**
 * Measures how long `work` takes, in milliseconds.
 * @param work returns the number of rows that it found. If it looks up targets, it must find PAGE times as many, so it
 *   returns the number of targets divided by PAGE.
 * @throws {Error} when `work` returns a number other than PAGE.
 */
async function timeOf(work: () => Promise<number>): Promise<number> {
  const startMs = performance.now();
  const count = await work();
  const tookMs = performance.now() - startMs;
  if (count !== PAGE) throw new Error(`work must find ${PAGE} rows, or ${PAGE} hundred targets, got ${count}`);
  return tookMs;
}
