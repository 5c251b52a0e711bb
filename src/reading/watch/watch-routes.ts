/**
 * Route `GET /data/watch` (R-J1). Sends newly committed points as server-sent events. The gRPC call `WatchPoints` uses
 * the same code (`watching/`). After the event `end`, the client calls again with the last cursor.
 */
import { type Context, Hono } from 'hono';
import type { CallerEnv } from '../../identity/authentication/authenticate.ts';
import { isTransientError } from '../../platform/database/dependency-error.ts';
import { DomainError } from '../../platform/errors.ts';
import { locationInAddress } from '../../platform/http/query.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import { type StreamServices, streamAnswer } from '../../platform/streaming/stream-answer.ts';
import type { Dictionary } from '../../points/dictionary.ts';
import type { WatchServer } from '../../watching/open-watching.ts';
import type { WatchRequest } from '../../watching/watch-request.ts';
import { type EventWriter, endEvent, openEventQueue, openEventWriter } from './watch-events.ts';
import { LAST_EVENT_ID, MAX_STREAM_VARIABLES, WATCH_QUERY } from './watch-query.ts';

export interface WatchRouteServices extends StreamServices {
  readonly dictionary: Dictionary;
  readonly watches: WatchServer;
}

type WatchEnv = CallerEnv & RequestIdEnv;

/** Tells proxies neither to cache nor to buffer the events. */
const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
};

/** The route `GET /data/watch` (R-J1). Mount it at `/data/watch`. */
export function watchRoutes(services: WatchRouteServices): Hono<WatchEnv> {
  const write = openEventWriter(services.dictionary);
  // After READ_MAX_SEC the watch ends with an event, which the client must read within `stallMs`. There is no minimum
  // read rate, because a slow client occupies the memory of only one message.
  const { readPace, log } = services;
  const pace = { stallMs: readPace.stallMs, minBytesPerSec: 0, maxMs: readPace.maxMs + readPace.stallMs };
  return new Hono<WatchEnv>().get('/', (c) => {
    const request = toWatchRequest(c);
    return streamAnswer(c, HEADERS, (signal) => eventsOf(services, write, request, c, signal), { log, readPace: pace });
  });
}

function toWatchRequest(c: Context<WatchEnv>): WatchRequest {
  const { cursor = '', ...asked } = WATCH_QUERY.parse(c.req.url);
  const lastEventId = c.req.header(LAST_EVENT_ID) ?? '';
  const subject = `header ${LAST_EVENT_ID}`;
  const ofCursor = lastEventId === '' ? locationInAddress('cursor') : { subject, path: `header.${LAST_EVENT_ID}` };
  return {
    ...asked,
    caller: c.var.caller,
    variableIds: [...new Set(asked.variableIds)],
    cursor: Buffer.from(lastEventId || cursor, 'base64url'),
    maxVariables: MAX_STREAM_VARIABLES,
    locationOf: (name) => (name === 'cursor' ? ofCursor : locationInAddress(name)),
  };
}

/**
 * @throws an error of `WatchServer.run`, such as a refusal, when the error comes before the first event. A later error
 * becomes the event `end`.
 */
async function* eventsOf(
  { watches, readPace, log }: WatchRouteServices,
  write: EventWriter,
  request: WatchRequest,
  c: Context<WatchEnv>,
  leaving: AbortSignal,
): AsyncGenerator<Buffer> {
  const { requestId } = c.var;
  const queue = openEventQueue(write);
  const authorization = c.req.header('authorization');
  watches.run({ request, authorization, sinkOf: queue.sinkOf, leaving, maxMs: readPace.maxMs }).then(
    () => queue.close(),
    (error: unknown) => queue.close(error),
  );
  let hasBegun = false;
  try {
    for await (const event of queue.events()) {
      yield event;
      hasBegun = true;
    }
  } catch (error) {
    if (!hasBegun) throw error;
    const { code, message } = toDomainError(error);
    if (code === 'internal_error') {
      log.error({ err: error, requestId }, 'a watch failed; its client can call again with the last cursor');
    }
    yield endEvent({ code, message, requestId });
  }
}

function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  if (isTransientError(error)) {
    return new DomainError(
      'dependency_unavailable',
      'a dependency of the service is unavailable, or the service is busy; call again with the last cursor',
    );
  }
  return new DomainError(
    'internal_error',
    'an internal error ended the watch; call again with the last cursor, and quote the request id when you report this',
  );
}
