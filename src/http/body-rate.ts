/**
 * Requires that request bodies arrive at a minimum rate (R-A14), so that a slow client cannot hold memory and
 * connections for a long time. A client that falls behind is disconnected. Before that, it gets a 408 answer, unless
 * another answer has begun. The rate is measured only while this service reads the body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { refuse } from './refuse-malformed.ts';

export interface BodyRate {
  /** Minimum rate of a request body; 0 means no minimum. */
  readonly bytesPerSec: number;
  /** A client that sends nothing for more than this number of seconds is too slow. */
  readonly graceSec: number;
}

export interface BodyRateWatch {
  /** Watches the body of a request until the body is complete, or until `remove` is called with the request. */
  add(incoming: IncomingMessage, outgoing: ServerResponse): void;
  remove(incoming: IncomingMessage): void;
  close(): void;
}

/** State of one connection, on which the client sends one body at a time. */
interface Watched {
  /** The request whose body is being received; undefined between bodies. */
  request: Request | undefined;
  /** `bytesRead` of the socket at the last check; undefined before the first check of each request. */
  bytesRead: number | undefined;
  /**
   * Number of bytes by which the client may still lag behind what the minimum rate requires; negative when the client
   * was too slow.
   */
  credit: number;
}

interface Request {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

const CHECK_INTERVAL_MS = 1000;

const isOver = ({ complete, destroyed }: IncomingMessage): boolean => complete || destroyed;

/**
 * Opens the watch; one timer checks all bodies in progress. The Map is keyed by connection, because a Map keyed by
 * request discards a hash table every few dozen requests, and each discarded table keeps its requests alive until a
 * full garbage collection. That cost 18 to 37 % of the processor time of small pushes (push/MEASUREMENTS.md).
 */
export function openBodyRateWatch({ bytesPerSec, graceSec }: BodyRate, intervalMs = CHECK_INTERVAL_MS): BodyRateWatch {
  const watched = new Map<Socket, Watched>();
  const maxCredit = bytesPerSec * graceSec;
  const check = (): void => {
    for (const body of watched.values()) {
      const { request } = body;
      if (!request) continue;
      if (isOver(request.incoming)) body.request = undefined;
      else {
        settle(request.incoming, body);
        if (body.credit >= 0) continue;
        body.request = undefined;
        cut(request);
      }
    }
  };
  /**
   * Updates the credit of a connection: adds the bytes that have arrived since the last check, and subtracts the bytes
   * that the minimum rate requires for the time between two checks.
   */
  const settle = (incoming: IncomingMessage, body: Watched): void => {
    const { bytesRead } = incoming.socket;
    const arrived = bytesRead - (body.bytesRead ?? bytesRead);
    // If bytes have arrived but have not been read yet, the service is slow, not the client. So nothing is subtracted.
    const needed = body.bytesRead === undefined || incoming.readableLength > 0 ? 0 : (bytesPerSec * intervalMs) / 1000;
    body.credit = Math.min(body.credit + arrived - needed, maxCredit);
    body.bytesRead = bytesRead;
  };
  const cut = ({ incoming, outgoing }: Request): void => {
    const message = `the request body must arrive at ${bytesPerSec} bytes per second or faster; send the request again, or split it into smaller requests if the connection is slow`;
    refuse(
      incoming.socket,
      { status: '408 Request Timeout', message },
      !outgoing.headersSent && outgoing.socket !== null,
    );
  };
  const open = (socket: Socket): Watched => {
    const body: Watched = { request: undefined, bytesRead: undefined, credit: maxCredit };
    watched.set(socket, body);
    socket.once('close', () => watched.delete(socket));
    return body;
  };
  const timer = setInterval(check, intervalMs);
  timer.unref();
  return {
    add: (incoming, outgoing) => {
      if (bytesPerSec === 0) return;
      const body = watched.get(incoming.socket) ?? open(incoming.socket);
      body.request = { incoming, outgoing };
      body.bytesRead = undefined;
      body.credit = maxCredit;
    },
    remove: (incoming) => {
      const body = watched.get(incoming.socket);
      if (body?.request?.incoming === incoming) body.request = undefined;
    },
    close: () => clearInterval(timer),
  };
}
