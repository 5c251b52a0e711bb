/**
 * The routes `GET /data` and `POST /data` (R-G1–G4) return points of variables, raw or aggregated into buckets of civil
 * time. The format is JSON, CSV, Arrow, Parquet or an Excel workbook.
 */
import { type Context, Hono } from 'hono';
import type { CallerEnv } from '../identity/authentication/authenticate.ts';
import {
  type Database,
  type SnapshotSource,
  streamInSnapshot,
  type Transaction,
} from '../platform/database/database.ts';
import type { ReadPool } from '../platform/database/read-pool.ts';
import { readJsonBody } from '../platform/http/http-body.ts';
import { isTotalWanted, setTotalCount, setWarning } from '../platform/http/listing-response.ts';
import type { Log } from '../platform/log.ts';
import type { PaceLimits } from '../platform/streaming/client-pace.ts';
import { countBuckets, streamAggregates } from '../points/buckets/aggregate-points.ts';
import type { Buckets } from '../points/buckets/bucket.ts';
import type { Dictionary } from '../points/dictionary.ts';
import type { PointSelection } from '../points/point.ts';
import { awaitWritersOf } from '../points/read/await-writers.ts';
import { countPoints, streamPoints, streamValues } from '../points/read/read-points.ts';
import { findBuckets } from '../selection/buckets.ts';
import { setDateZone, settleDates } from '../selection/date-zone.ts';
import { openNotice } from '../selection/history-notice.ts';
import { parseReadBody, parseReadQuery, type RestReadRequest, type Zoned } from '../selection/read-request.ts';
import { resolveSelection } from '../selection/selection.ts';
import { answerTable } from './answer-table.ts';
import { chooseFormat } from './formats/formats.ts';
import type { Table } from './formats/table.ts';
import { aggregateTable, pointTable, type RowShape, valueTable } from './point-tables.ts';
import { countedChunks, type ReadMetrics } from './read-metrics.ts';

export interface ReadingServices {
  readonly database: Database;
  /** Pool of connections for streamed answers; the accounts share the connections fairly. */
  readonly reads: ReadPool;
  /** Limits for clients that read streamed answers slowly. */
  readonly readPace: PaceLimits;
  readonly dictionary: Dictionary;
  readonly readMetrics: ReadMetrics;
  readonly log: Log;
}

/** `GET /data` and `POST /data` (R-G1–G4). Mount at `/data`. */
export function dataRoutes(services: ReadingServices): Hono<CallerEnv> {
  return new Hono<CallerEnv>()
    .get('/', (c) => answerRead(services, c, parseReadQuery(c.req.url)))
    .post('/', async (c) => answerRead(services, c, parseReadBody(c.req.url, await readJsonBody(c.req.raw))));
}

async function answerRead(
  services: ReadingServices,
  c: Context<CallerEnv>,
  given: Zoned<RestReadRequest>,
): Promise<Response> {
  const { request, dateZone } = await settleDates(services.database, c.var.caller, given);
  const { selection, variables } = await resolveSelection(services.database, c.var.caller, request);
  setDateZone(c, dateZone);
  if (request.granularity === 'Raw' && request.aggregate !== undefined) {
    setWarning(c, 'aggregation has no effect: the granularity is Raw');
  }
  const buckets = findBuckets(request, variables);
  const source = services.reads.of(c.var.caller.accountId);
  if (isTotalWanted(c)) {
    setTotalCount(c, await countRows(source, selection, buckets, c.req.raw.signal));
  }
  const notice = openNotice();
  const shape = { level: request.level, timeZoneId: request.timeZoneId, variables, notice };
  const { contentType, write } = chooseFormat(request.format, c.req.header('accept'), request.level === 'Columns');
  return answerTable(
    c,
    contentType,
    (signal) => write(toTable(services, source, selection, buckets, shape, signal)),
    notice,
    services,
  );
}

/**
 * Counts the rows of a read. The count first waits for the end of open writes, as the read does (R-F5). It stops when
 * the client disconnects.
 */
async function countRows(
  source: SnapshotSource,
  selection: PointSelection,
  buckets: Buckets | undefined,
  signal: AbortSignal,
): Promise<number> {
  await awaitWritersOf(source, selection, signal);
  const count = async function* (transaction: Transaction): AsyncGenerator<number> {
    yield buckets
      ? await countBuckets(transaction, selection, buckets, signal)
      : await countPoints(transaction, selection);
  };
  let total = 0;
  for await (const counted of streamInSnapshot(source, count, signal)) total = counted;
  return total;
}

function toTable(
  { dictionary, readMetrics }: ReadingServices,
  source: SnapshotSource,
  selection: PointSelection,
  buckets: Buckets | undefined,
  shape: RowShape & { readonly notice: ReturnType<typeof openNotice> },
  signal: AbortSignal,
): Table {
  const { points } = readMetrics;
  const { note } = shape.notice;
  if (!buckets && shape.level === 'ValueVariableDate') {
    return valueTable(countedChunks(streamValues(source, selection, signal, note), points), shape);
  }
  if (!buckets) {
    const chunks = streamPoints(source, selection, signal, note);
    return pointTable(countedChunks(chunks, points), dictionary, shape);
  }
  const aggregates = streamAggregates(source, selection, buckets, signal, note);
  return aggregateTable(countedChunks(aggregates, points), buckets.functionOf, shape);
}
