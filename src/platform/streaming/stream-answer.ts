/**
 * Streams an answer while its rows are read (R-G4). It waits for the first piece, so a query that fails at once gets an
 * error answer. A later failure breaks the connection, so a truncated answer never looks complete. The query ends when the
 * client disconnects, and the answer when the client is too slow (R-A14).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { markStreamed } from '../http/streamed-answer.ts';
import type { Log } from '../log.ts';
import { type PaceLimits, watchPace } from './client-pace.ts';

export interface StreamServices {
  readonly log: Log;
  /** Limits for clients that read streamed answers slowly. */
  readonly readPace: PaceLimits;
}

export interface StreamOptions {
  /** Runs when the first piece is ready, before the answer begins; may still set headers. */
  readonly beforeFirst?: () => void;
  /**
   * An answer of at most this many bytes leaves at once, with its length. Collecting it delays the first byte until
   * this many bytes are ready, so it does not suit an answer that waits for events. Default: every answer is streamed.
   */
  readonly wholeBytes?: number;
}

/**
 * Answers a request with a stream of pieces (R-G4).
 * @param write creates the pieces; its signal aborts when the client disconnects. Not called for HEAD requests, which
 *   are answered with the headers alone.
 * @throws the error of the first piece, or of any piece of an answer that leaves at once.
 */
export async function streamAnswer(
  c: Context,
  headers: Readonly<Record<string, string>>,
  write: (signal: AbortSignal) => AsyncGenerator<Uint8Array>,
  services: StreamServices,
  { beforeFirst, wholeBytes = 0 }: StreamOptions = {},
): Promise<Response> {
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  if (c.req.method === 'HEAD') {
    markStreamed(c);
    return c.body(null);
  }
  const leaving = new AbortController();
  const pieces = write(leaving.signal);
  const end = (): void => {
    leaving.abort();
    // Nothing reads an error that the abort causes.
    pieces.return(undefined).catch(() => {});
  };
  // When the client leaves before the answer begins, the stream is neither read nor cancelled.
  const { signal } = c.req.raw;
  signal.addEventListener('abort', end, { once: true });
  // No event follows when the client has already left.
  if (signal.aborted) end();
  const { begun, isWhole } = await begin(pieces, wholeBytes);
  if (signal.aborted) end();
  beforeFirst?.();
  if (isWhole) return c.body(Buffer.concat(begun));
  markStreamed(c);
  return c.body(toStream(c, begun, pieces, end, services));
}

/** Takes the first piece, and further ones up to `wholeBytes`. */
async function begin(
  pieces: AsyncGenerator<Uint8Array>,
  wholeBytes: number,
): Promise<{ readonly begun: Uint8Array[]; readonly isWhole: boolean }> {
  const begun: Uint8Array[] = [];
  let bytes = 0;
  do {
    const piece = await pieces.next();
    if (piece.done) return { begun, isWhole: true };
    begun.push(piece.value);
    bytes += piece.value.length;
  } while (bytes <= wholeBytes && wholeBytes > 0);
  return { begun, isWhole: false };
}

function toStream(
  c: Context,
  begun: Uint8Array[],
  pieces: AsyncGenerator<Uint8Array>,
  end: () => void,
  { log, readPace }: StreamServices,
): ReadableStream {
  let isLeft = false;
  const leave = (): void => {
    isLeft = true;
    pace.end();
    end();
  };
  const pace = watchPace(readPace, (reason) => {
    log.warn({ requestId: c.get('requestId'), reason }, 'the answer to a slow client was ended');
    leave();
    breakConnection(c);
  });
  // A stream whose client left before it was read is neither read nor cancelled.
  c.req.raw.signal.addEventListener('abort', pace.end, { once: true });
  return new ReadableStream({
    pull: async (controller) => {
      pace.taken();
      try {
        const ready = begun.shift();
        const piece = ready ? { value: ready } : await pieces.next();
        // Yields to other requests; buffered rows would otherwise be written batch after batch without a pause.
        await nextTurn();
        if (isLeft) return;
        if (piece.done) {
          pace.end();
          controller.close();
          return;
        }
        pace.offer(piece.value.length);
        controller.enqueue(piece.value);
      } catch (error) {
        pace.end();
        if (isLeft || c.req.raw.signal.aborted) return;
        log.error({ err: error, requestId: c.get('requestId') }, 'streaming an answer failed');
        breakConnection(c, controller);
      }
    },
    cancel: leave,
  });
}

/**
 * Destroys the connection. An error on the stream instead would make the HTTP server send the error's text to the client
 * when nothing has been sent yet, and print it to the console.
 */
function breakConnection(c: Context, controller?: ReadableStreamDefaultController): void {
  const { outgoing } = (c.env ?? {}) as Partial<HttpBindings>;
  if (outgoing) outgoing.destroy();
  else controller?.error(new Error('streaming the answer failed'));
}
