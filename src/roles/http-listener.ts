/**
 * HTTP server that listens before its app is ready, so that its port is known early. It answers 503 until `serve` is
 * called.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { openBodyRateWatch } from '../http/body-rate.ts';
import { refuseMalformed } from '../http/refuse-malformed.ts';
import { API_VERSION } from '../platform/http/api-version.ts';
import { type RequestIdEnv, requestId } from '../platform/http/request-id.ts';
import { MAX_STATEMENT_MS } from '../platform/limits.ts';

type Fetch = (request: Request, env: object) => Response | Promise<Response>;
type RawHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => void;
/** Wraps the app's handler: answers some requests itself, and passes other requests to the app. */
type Middleware = (handleByApp: RawHandler) => RawHandler;

export interface HttpListener {
  readonly port: number;
  /** Number of requests whose answers have not ended. A streamed answer ends with its stream. */
  inFlight(): number;
  /** Serves an app. @param middleware receives every request before the app. */
  serve(fetch: Fetch, middleware?: Middleware): void;
  /**
   * Accepts no further connections, waits at most `graceMs` for answers in progress, and then closes the connections of
   * the answers that remain.
   */
  stop(graceMs: number): Promise<void>;
}

const STARTING = { code: 'dependency_unavailable', message: 'the service is starting; try again in 1 s' };
const starting = new Hono<RequestIdEnv>()
  .use(requestId())
  .all('*', (c) =>
    c.json({ ...STARTING, requestId: c.var.requestId }, 503, { 'Api-Version': API_VERSION, 'Retry-After': '1' }),
  );

// A client connection without traffic for this time is closed, because an unread answer occupies a database connection.
// The time exceeds MAX_STATEMENT_MS, so that even the longest deletion can be answered.
const STALLED_MS = MAX_STATEMENT_MS + 20_000;
const BODY_GRACE_SEC = 20;
// Maximum time to receive a request: enough for a file of 200 MiB at 1 Mbit/s.
const MAX_REQUEST_MS = 1_800_000;

export interface ListenLimits {
  /** A client connection without traffic for this time is closed. */
  readonly stalledMs?: number;
  /** Minimum rate of request bodies in bytes per second; 0 for no minimum. */
  readonly minBodyBytesPerSec?: number;
  /** A client that pauses for more than this number of seconds while it sends a body is disconnected. */
  readonly bodyGraceSec?: number;
}

/**
 * Listens on `host` and `port`.
 * @param port port to listen on; 0 to let the system choose one.
 * @throws {Error} such as EADDRINUSE, when the server cannot listen on `port`.
 */
export async function listenHttp(
  host: string,
  port: number,
  { stalledMs = STALLED_MS, minBodyBytesPerSec = 0, bodyGraceSec = BODY_GRACE_SEC }: ListenLimits = {},
): Promise<HttpListener> {
  let fetch: Fetch = starting.fetch;
  const throughApp: RawHandler = getRequestListener((request, env) => fetch(request, env));
  let handle = throughApp;
  let inFlight = 0;
  const bodies = openBodyRateWatch({ bytesPerSec: minBodyBytesPerSec, graceSec: bodyGraceSec });
  function ended(this: ServerResponse): void {
    inFlight -= 1;
    bodies.remove(this.req);
  }
  const server = createServer((incoming, outgoing) => {
    inFlight += 1;
    outgoing.once('close', ended);
    bodies.add(incoming, outgoing);
    handle(incoming, outgoing);
  });
  refuseMalformed(server);
  server.timeout = stalledMs;
  server.requestTimeout = MAX_REQUEST_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    inFlight: () => inFlight,
    serve: (app, middleware = (handleByApp) => handleByApp) => {
      fetch = app;
      handle = middleware(throughApp);
    },
    stop: (graceMs) =>
      new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          bodies.close();
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
