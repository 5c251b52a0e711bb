/**
 * `GET /data` and `POST /data` (R-G1–G3): points of variables, latest, as known then, or under a VersionTag; raw or
 * aggregated by civil buckets.
 */
import { type Context, Hono } from 'hono';
import type { CallerEnv } from '../identity/authenticate.ts';
import { type Database, streamInSnapshot, withTransaction } from '../platform/database.ts';
import { readJsonBody } from '../platform/http-body.ts';
import { isTotalWanted, setTotalCount } from '../platform/listing-response.ts';
import { parseQuery } from '../platform/query-string.ts';
import { markStreamed } from '../platform/streamed-answer.ts';
import { aggregatePoints, countBuckets } from '../points/aggregate-points.ts';
import type { Dictionary } from '../points/dictionary.ts';
import { countPoints, streamPoints } from '../points/read-points.ts';
import { findBuckets } from './buckets.ts';
import { jsonAggregates, jsonRows } from './json-rows.ts';
import { queryOfAddress, queryOfBody, type ReadQuery } from './read-query.ts';
import { parseReadRequest } from './read-request.ts';
import { resolveSelection } from './selection.ts';

/** @param readDatabase the pool answers are streamed from, a connection each for as long as its reader takes. */
export function dataRoutes(database: Database, readDatabase: Database, dictionary: Dictionary): Hono<CallerEnv> {
  const respond = async (c: Context<CallerEnv>, query: ReadQuery): Promise<Response> => {
    const request = parseReadRequest(query);
    const { selection, variables } = await resolveSelection(database, c.var.caller, request);
    const buckets = findBuckets(request, variables);
    if (isTotalWanted(c)) {
      const count = await withTransaction(
        readDatabase,
        (transaction) =>
          buckets ? countBuckets(transaction, selection, buckets) : countPoints(transaction, selection),
        { readOnly: true },
      );
      setTotalCount(c, count);
    }
    const format = { level: request.level, timeZoneId: request.timeZoneId, variables };
    const rows = buckets
      ? jsonAggregates(
          streamInSnapshot(readDatabase, (it) => aggregatePoints(it, selection, buckets)),
          format,
        )
      : jsonRows(streamPoints(readDatabase, selection), dictionary, format);
    markStreamed(c);
    c.header('Content-Type', 'application/json; charset=utf-8');
    const body = await toBody(rows, c.req.raw);
    return body ? c.body(body) : c.body(null);
  };
  return new Hono<CallerEnv>()
    .get('/', (c) => respond(c, queryOfAddress(parseQuery(c.req.url))))
    .post('/', async (c) => respond(c, queryOfBody(await readJsonBody(c.req.raw))));
}

/**
 * Waits for the first piece, so that a query that fails at once is answered with its error, not a broken stream. The
 * query ends with the stream, however that comes about: read to its end, cancelled, or never begun.
 */
async function toBody(pieces: AsyncGenerator<string>, { signal, method }: Request): Promise<ReadableStream | null> {
  let next: IteratorResult<string> | undefined = await pieces.next();
  const end = async (): Promise<void> => {
    await pieces.return(undefined);
  };
  if (method === 'HEAD') {
    await end();
    return null;
  }
  // A client that is gone before the answer begins: nobody reads the stream then, and nobody cancels it.
  signal.addEventListener('abort', () => void end().catch(() => {}));
  if (signal.aborted) await end();
  return new ReadableStream({
    pull: async (controller) => {
      const piece = next ?? (await pieces.next());
      next = undefined;
      if (piece.done) controller.close();
      else controller.enqueue(Buffer.from(piece.value));
    },
    cancel: end,
  });
}
