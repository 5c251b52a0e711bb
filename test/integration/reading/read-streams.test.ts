/**
 * Tests what streams of points do in the database: when a reader disconnects, the service releases the database
 * connection and ends the query (R-G4, R-J2).
 */
import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type ClientReadableStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { loadPublicPackage } from '../../../src/grpc/load-proto.ts';
import {
  type Database,
  openDatabase,
  streamInSnapshot,
  withTransaction,
} from '../../../src/platform/database/database.ts';
import type { ReadLimits } from '../../../src/platform/database/read-watch.ts';
import { XLSX_TYPE } from '../../../src/platform/http/workbook-writer.ts';
import { createLog } from '../../../src/platform/log.ts';
import { countBuckets } from '../../../src/points/buckets/aggregate-points.ts';
import type { Buckets } from '../../../src/points/buckets/bucket.ts';
import type { PointSelection } from '../../../src/points/point.ts';
import { streamPoints } from '../../../src/points/read/read-points.ts';
import { eventually } from '../../support/eventually.ts';
import { addStoredPoints } from '../../support/fixtures/stored-points.ts';
import { createStructure } from '../../support/fixtures/structure.ts';
import { type GatedTestApi, startGatedTestApi } from '../../support/services/start-api.ts';

const POINTS = 300_000;
const POOL_SIZE = 4;

let api: GatedTestApi;
let variableId: number;
beforeAll(async () => {
  api = await startGatedTestApi({ READ_POOL_SIZE: String(POOL_SIZE) });
  const { body: siteId } = await api.manager.post<number>('/sites', { name: 'Mill', timeZoneId: 'UTC' });
  const source = await api.manager.post<{ id: number }>('/sources', { siteId, name: 'Meter' });
  const variable = await api.manager.post<{ id: number }>(`/variables/source/${source.body.id}`, {});
  variableId = variable.body.id;
  await addStoredPoints(api.database, variableId, POINTS);
});
afterAll(() => api?.close());

const noneIsOpen = () =>
  eventually('the end of every read', async () => {
    const { rowCount } = await api.database.query(
      `select from pg_stat_activity
       where datname = current_database() and application_name = 'tidemark' and state <> 'idle'`,
    );
    return rowCount === 0;
  });

function startRead(method = 'GET', encoding = 'identity', more: Readonly<Record<string, string>> = {}): ClientRequest {
  const headers = { authorization: `Bearer ${api.manager.token}`, 'accept-encoding': encoding, ...more };
  const read = request(`${api.origin}/data?variableId=${variableId}`, { method, headers });
  read.on('error', () => {});
  return read.end();
}

const openReads = async () => {
  const { rows } = await api.database.query<{ count: number }>(
    `select count(*) as count from pg_stat_activity where datname = current_database() and query like 'copy (%'`,
  );
  return rows[0]?.count ?? 0;
};

describe('read streams: an HTTP reader', () => {
  test.each([
    ['identity', 'application/json'],
    ['gzip', 'application/json'],
    ['identity', XLSX_TYPE],
  ])(
    'a disconnect during an answer (encoding %s, type %s) releases the database connection (R-G4)',
    async (encoding, accept) => {
      for (let reader = 0; reader <= POOL_SIZE; reader += 1) {
        const read = startRead('GET', encoding, { accept });
        const [response] = await once(read, 'response');
        await once(response, 'data');
        read.destroy();
        await noneIsOpen();
      }
    },
  );

  test('when the reader disconnects before the answer begins, the database connection is released (R-G4)', async () => {
    for (let reader = 0; reader <= 4 * POOL_SIZE; reader += 1) {
      const read = startRead();
      // The readers disconnect at different times, from the start of the request to about the first chunk of the
      // answer.
      await once(read, 'socket');
      const until = performance.now() + reader * 3;
      await eventually(
        'its time',
        async () => performance.now() >= until || (reader % 2 === 1 && (await openReads()) > 0),
      );
      read.destroy();
    }
    await noneIsOpen();
  });

  test('when the reader disconnects before the first row, the query is cancelled (R-G4)', async () => {
    await whileRowsAreHeldUp(async () => {
      const read = startRead();
      await isRunning();
      read.destroy();
      await hasEnded();
    });
  });

  test('when the reader disconnects during the count for x-total-count, the count is cancelled (R-A7, R-G4)', async () => {
    const counting = async (): Promise<number> => {
      const { rowCount } = await api.database.query(
        `select from pg_stat_activity
         where datname = current_database() and state = 'active' and query like 'select coalesce(sum(points)%'`,
      );
      return rowCount ?? 0;
    };
    await whileRowsAreHeldUp(async () => {
      const read = startRead('HEAD', 'identity', { 'x-total-count': 'true' });
      await eventually('the counting', async () => (await counting()) === 1);
      read.destroy();
      await eventually('the end of the counting', async () => (await counting()) === 0);
    });
  });

  test('when the reader disconnects right after its request or while the query runs, no query keeps running (R-G4)', async () => {
    await whileRowsAreHeldUp(async () => {
      for (let reader = 0; reader < 3 * POOL_SIZE; reader += 1) {
        const read = startRead();
        await once(read, 'finish');
        if (reader % 3 > 0) await nextTurn();
        read.destroy();
      }
      await hasEnded();
      const read = startRead();
      await isRunning();
      read.destroy();
      await hasEnded();
    });
  });

  test('after a HEAD request, the database connection is released (R-G4)', async () => {
    for (let reader = 0; reader <= POOL_SIZE; reader += 1) {
      const [response] = await once(startRead('HEAD'), 'response');
      expect(response.statusCode).toBe(200);
      response.resume();
    }
    await noneIsOpen();
  });
});

const running = async (): Promise<number> => {
  const { rowCount } = await api.database.query(
    `select from pg_stat_activity
     where datname = current_database() and application_name in ('tidemark', 'reader')
       and state = 'active' and query like 'copy (%'`,
  );
  return rowCount ?? 0;
};

/** Runs `work` under a lock; until `work` ends, a new read of points waits before it gets its first row. */
async function whileRowsAreHeldUp(work: () => Promise<void>): Promise<void> {
  await withTransaction(
    api.database,
    async (transaction) => {
      await transaction.query('lock table point in access exclusive mode');
      await work();
    },
    { idleTimeoutMs: 0 },
  );
}

const isRunning = () => eventually('the query to run', async () => (await running()) === 1);
const hasEnded = () => eventually('the end of the query', async () => (await running()) === 0);

interface DataPoints {
  ReadPoints(message: object, metadata: Metadata): ClientReadableStream<{ readonly values: readonly number[] }>;
  close(): void;
}

describe('read streams: a gRPC reader', () => {
  let client: DataPoints;
  let metadata: Metadata;
  beforeAll(() => {
    const root = loadPackageDefinition(loadPublicPackage()) as never as {
      tidemark: { v1: { DataPoints: new (address: string, credentials: object) => DataPoints } };
    };
    client = new root.tidemark.v1.DataPoints(api.grpcAddress, credentials.createInsecure());
    metadata = new Metadata();
    metadata.set('authorization', `Bearer ${api.manager.token}`);
  });
  afterAll(() => client.close());

  test('when the reader cancels the call immediately or during the answer, the database connection is released (R-J2)', async () => {
    for (let reader = 0; reader <= 2 * POOL_SIZE; reader += 1) {
      const call = client.ReadPoints({ variableIds: [variableId] }, metadata);
      call.on('error', () => {});
      // Without the pause, grpc-js would not tell the server about the cancellation, and the reads would run to their
      // end.
      await (reader % 2 === 0 ? once(call, 'data') : nextTurn());
      call.cancel();
    }
    await noneIsOpen();
  });

  test('when the reader cancels the call before the first row, the query ends (R-J2)', async () => {
    await whileRowsAreHeldUp(async () => {
      const call = client.ReadPoints({ variableIds: [variableId] }, metadata);
      const failed = once(call, 'error').then(([error]) => Promise.reject(error));
      await Promise.race([isRunning(), failed]);
      failed.catch(() => {});
      call.cancel();
      await hasEnded();
    });
  });

  test.each([
    ['-9223372036854775808', '9223372036854775807'],
    ['-62135596800000000', '253402300799999999'],
  ])('a read accepts instants as early as %s µs and as late as %s µs (R-J1)', async (first, last) => {
    const read = async (bounds: object): Promise<number> => {
      let points = 0;
      const call = client.ReadPoints({ variableIds: [variableId], ...bounds }, metadata);
      await new Promise<void>((resolve, reject) => {
        call.on('data', (chunk) => {
          points += chunk.values.length;
        });
        call.on('error', (error: ServiceError) => reject(error));
        call.on('end', resolve);
      });
      return points;
    };
    expect(await read({ fromMicros: first, toMicros: last, asOfMicros: last })).toBe(POINTS);
    expect(await read({ fromMicros: last })).toBe(0);
    expect(await read({ asOfMicros: first })).toBe(0);
  });
});

test('read streams: an as-of read waits for an open write and includes its point (R-A7, R-F5)', async () => {
  const { variableId: ownId } = await createStructure(api.manager);
  const answer = await withTransaction(
    api.database,
    async (writer) => {
      const { rows } = await writer.query<{ asOf: string }>(
        `select begin_point_write(array[$1::int]) + interval '1 millisecond' as "asOf"`,
        [api.accountId],
      );
      const asOf = rows[0]?.asOf ?? '';
      const reading = api.manager.get(`/data?variableId=${ownId}&asOf=${asOf}`, { 'x-total-count': 'true' });
      await eventually('the reader to wait for writers', async () => {
        const { rowCount } = await api.database.query(
          `select from pg_stat_activity
         where datname = current_database() and query like '%from pg_' || 'locks%' and query_start > $1`,
          [asOf],
        );
        return (rowCount ?? 0) > 0;
      });
      await writer.query(`insert into point values ('2026-01-01', 1, $2, $1, 0, 0)`, [ownId, asOf]);
      // The read waits for the commit, so the read must not be awaited before the commit. A bare promise would be
      // awaited before the commit, so the promise is wrapped in an object.
      return { reading };
    },
    { idleTimeoutMs: 0 },
  );
  const { headers, body } = await answer.reading;
  expect({ total: headers.get('x-total-count'), body }).toMatchObject({ total: '1', body: [{ rawValue: 1 }] });
});

describe('read streams: limits', () => {
  const selection: PointSelection = { variableIds: [0], version: {}, order: 'ASC' };
  let readDatabase: Database;
  afterEach(() => readDatabase.end());
  const openReader = (readLimits: Partial<ReadLimits>): Database => {
    const log = createLog('silent', 'test');
    readDatabase = openDatabase({ url: api.databaseGate.url, poolSize: 1, applicationName: 'reader', log, readLimits });
    return readDatabase;
  };
  const ofAll = (): PointSelection => ({ ...selection, variableIds: [variableId] });

  test('a read whose client stalls for longer than stallMs fails; its database connection ends and frees its place in the pool (R-G4)', async () => {
    const points = streamPoints(openReader({ stallMs: 200 }), ofAll());
    await points.next();
    await hasEnded();
    await readDatabase.query('select 1');
    await expect(points.next()).rejects.toThrow(/the client did not read the rows within 200 ms/);
  });

  test('a statement that sends no row for silenceMs is cancelled (R-G4)', async () => {
    const points = streamPoints(openReader({ silenceMs: 200 }), ofAll());
    await whileRowsAreHeldUp(async () => {
      await expect(points.next()).rejects.toThrow(/the database sent nothing for 200 ms/);
      await hasEnded();
    });
  });

  test('a read that makes progress may take longer than stallMs and silenceMs (R-G4)', async () => {
    const start = performance.now();
    const sleeps = streamInSnapshot(openReader({ silenceMs: 500, stallMs: 500 }), async function* (transaction) {
      while (performance.now() - start < 1500) yield await transaction.query('select pg_sleep(0.1)');
    });
    let count = 0;
    for await (const _ of sleeps) count += 1;
    expect(count).toBeGreaterThan(5);
  });

  test('a count that includes empty buckets lets other work run, and ends when its signal is aborted (R-A7, R-G4)', async () => {
    const leaving = new AbortController();
    let days = 0;
    const startOfDay = (date: number): number => {
      days += 1;
      if (days === 1000) setImmediate(() => leaving.abort(new Error('has left')));
      return date;
    };
    const bounds = { fromMicros: Date.UTC(1800, 0) * 1000, toMicros: Date.UTC(2100, 0) * 1000 };
    const buckets: Buckets = { bucket: 'day', timeZoneId: 'UTC', fill: 'null', functionOf: () => 'sum', startOfDay };
    const counting = withTransaction(openReader({}), (transaction) =>
      countBuckets(transaction, { ...ofAll(), ...bounds }, buckets, leaving.signal),
    );
    await expect(counting).rejects.toThrow('has left');
  });

  test('a read fails with the reason of its signal when the signal is aborted before or during the read (R-G4)', async () => {
    const leaving = new AbortController();
    const points = streamPoints(openReader({}), ofAll(), leaving.signal);
    await points.next();
    leaving.abort(new Error('has left'));
    await expect(points.next()).rejects.toThrow('has left');
    await expect(streamPoints(readDatabase, ofAll(), leaving.signal).next()).rejects.toThrow('has left');
    await hasEnded();
  });
});
