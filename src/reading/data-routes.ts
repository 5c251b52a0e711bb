/**
 * `GET /data` and `POST /data` (R-G1–G3): points of variables, latest, as known then, or under a VersionTag; raw or
 * aggregated by civil buckets.
 */
import { Readable } from 'node:stream';
import { type Context, Hono } from 'hono';
import type { CallerEnv } from '../identity/authenticate.ts';
import { type Database, streamInSnapshot, withTransaction } from '../platform/database.ts';
import { readJsonBody } from '../platform/http-body.ts';
import { isTotalWanted, setTotalCount } from '../platform/listing-response.ts';
import { parseQuery, type Query } from '../platform/query-string.ts';
import { aggregatePoints, countBuckets } from '../points/aggregate-points.ts';
import type { Dictionary } from '../points/dictionary.ts';
import { countPoints, streamPoints } from '../points/read-points.ts';
import { findBuckets } from './buckets.ts';
import { jsonAggregates, jsonRows } from './json-rows.ts';
import { parseReadRequest, queryOfBody } from './read-request.ts';
import { resolveSelection } from './selection.ts';

export function dataRoutes(database: Database, dictionary: Dictionary): Hono<CallerEnv> {
  const respond = async (c: Context<CallerEnv>, query: Query): Promise<Response> => {
    const request = parseReadRequest(query);
    const { selection, variables } = await resolveSelection(database, c.var.caller, request);
    const buckets = findBuckets(request, variables);
    if (isTotalWanted(c)) {
      const count = await withTransaction(
        database,
        (transaction) =>
          buckets ? countBuckets(transaction, selection, buckets) : countPoints(transaction, selection),
        { readOnly: true },
      );
      setTotalCount(c, count);
    }
    const format = { level: request.level, timeZoneId: request.timeZoneId, variables };
    const rows = buckets
      ? jsonAggregates(
          streamInSnapshot(database, (it) => aggregatePoints(it, selection, buckets)),
          format,
        )
      : jsonRows(streamPoints(database, dictionary, selection), format);
    c.header('Content-Type', 'application/json; charset=utf-8');
    return c.body(await toBody(rows));
  };
  return new Hono<CallerEnv>()
    .get('/', (c) => respond(c, parseQuery(c.req.url)))
    .post('/', async (c) => respond(c, queryOfBody(await readJsonBody(c.req.raw))));
}

/** Waits for the first piece, so that a query that fails at once is answered with its error, not a broken stream. */
async function toBody(pieces: AsyncGenerator<string>): Promise<ReadableStream> {
  const first = await pieces.next();
  async function* all(): AsyncGenerator<Buffer> {
    try {
      if (!first.done) yield Buffer.from(first.value);
      for await (const piece of pieces) yield Buffer.from(piece);
    } finally {
      await pieces.return(undefined);
    }
  }
  return Readable.toWeb(Readable.from(all(), { objectMode: false })) as ReadableStream;
}
