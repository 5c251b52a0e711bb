/**
 * Requires a minimum rate of every request body (R-A14): a client that sends slower is answered 408 and disconnected, so that it
 * cannot hold memory and connections for long. Time in which this service does not read is not held against the client.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { refuse } from './refuse-malformed.ts';

export interface BodyRate {
  /** 0: no minimum. */
  readonly bytesPerSec: number;
  /** A body may fall behind by what arrives in this time at the minimum rate. */
  readonly graceSec: number;
}

export interface BodyRateWatch {
  /** Watches a request until `remove`, or until its body is complete. */
  add(incoming: IncomingMessage, outgoing: ServerResponse): void;
  remove(incoming: IncomingMessage): void;
  close(): void;
}

interface Watched {
  readonly outgoing: ServerResponse;
  /** `bytesRead` of the socket at the last check; undefined: not checked yet. */
  bytesRead: number | undefined;
  /** Bytes that the client is ahead of the minimum rate; negative: too slow. */
  credit: number;
}

const CHECK_INTERVAL_MS = 1000;

/** Opens the watch; one timer checks all bodies in progress. */
export function openBodyRateWatch({ bytesPerSec, graceSec }: BodyRate, intervalMs = CHECK_INTERVAL_MS): BodyRateWatch {
  const watched = new Map<IncomingMessage, Watched>();
  const maxCredit = bytesPerSec * graceSec;
  const check = (): void => {
    for (const [incoming, body] of watched) {
      if (incoming.complete || incoming.destroyed) {
        watched.delete(incoming);
        continue;
      }
      settle(incoming, body);
      if (body.credit >= 0) continue;
      watched.delete(incoming);
      cut(incoming, body.outgoing);
    }
  };
  /** Adds what has arrived since the last check, and subtracts what had to arrive. */
  const settle = (incoming: IncomingMessage, body: Watched): void => {
    const { bytesRead } = incoming.socket;
    const arrived = bytesRead - (body.bytesRead ?? bytesRead);
    // Unread bytes: this service is slow, not the client.
    const needed = body.bytesRead === undefined || incoming.readableLength > 0 ? 0 : (bytesPerSec * intervalMs) / 1000;
    body.credit = Math.min(body.credit + arrived - needed, maxCredit);
    body.bytesRead = bytesRead;
  };
  const cut = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const message = `the request body must arrive at ${bytesPerSec} bytes a second or faster; send the request again`;
    refuse(
      incoming.socket,
      { status: '408 Request Timeout', message },
      !outgoing.headersSent && outgoing.socket !== null,
    );
  };
  const timer = setInterval(check, intervalMs);
  timer.unref();
  return {
    add: (incoming, outgoing) => {
      if (bytesPerSec > 0) watched.set(incoming, { outgoing, bytesRead: undefined, credit: maxCredit });
    },
    remove: (incoming) => watched.delete(incoming),
    close: () => clearInterval(timer),
  };
}
