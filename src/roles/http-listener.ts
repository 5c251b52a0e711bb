/** A listening HTTP server: listens first, so that its port is known, and answers 503 until it is given its app. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { refuseMalformed } from '../http/refuse-malformed.ts';

type Fetch = (request: Request, env: object) => Response | Promise<Response>;
type RawHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => void;
/** Answers what it can by itself, and leaves the rest to `otherwise`. */
type Door = (otherwise: RawHandler) => RawHandler;

export interface HttpListener {
  readonly port: number;
  /** Requests whose answers are not over, streams included. */
  inFlight(): number;
  /** @param door comes before the app. */
  serve(fetch: Fetch, door?: Door): void;
  /** Takes no more connections and waits for the answers under way, for at most `graceMs`; then cuts them off. */
  stop(graceMs: number): Promise<void>;
}

const starting: Fetch = () => new Response('starting', { status: 503, headers: { 'Retry-After': '1' } });

// An answer nobody reads holds a database connection; longer than any statement may take.
const STALLED_MS = 300_000;
// A file of 200 MiB over a line of 1 Mbit/s.
const LONGEST_REQUEST_MS = 1_800_000;

/**
 * @param port 0 picks a free one.
 * @param stalledMs a connection on which nothing moved for so long is closed.
 * @throws Error when the address is taken.
 */
export async function listenHttp(host: string, port: number, stalledMs = STALLED_MS): Promise<HttpListener> {
  let fetch = starting;
  const throughApp: RawHandler = getRequestListener((request, env) => fetch(request, env));
  let handle = throughApp;
  let inFlight = 0;
  const ended = (): void => {
    inFlight -= 1;
  };
  const server = createServer((incoming, outgoing) => {
    inFlight += 1;
    outgoing.once('close', ended);
    handle(incoming, outgoing);
  });
  refuseMalformed(server);
  server.timeout = stalledMs;
  server.requestTimeout = LONGEST_REQUEST_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    inFlight: () => inFlight,
    serve: (app, door = (otherwise) => otherwise) => {
      fetch = app;
      handle = door(throughApp);
    },
    stop: (graceMs) =>
      new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
