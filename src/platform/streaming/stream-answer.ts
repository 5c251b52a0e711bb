/**
 * Streams an answer while its rows are read (R-G4). Without `wholeBytes`, the answer begins when its first chunk is
 * ready. With `wholeBytes`, it begins when all chunks are ready or when the ready chunks exceed that size. When the
 * query fails before the answer begins, the client gets an error answer. A later failure breaks the connection, so that
 * a truncated answer never looks complete. The query ends when the client disconnects or is too slow (R-A14).
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
  /** Called just before the answer begins, when its first chunk is ready. The function may set headers. */
  readonly beforeFirst?: () => void;
  /**
   * An answer of at most this many bytes is sent whole, with its length. Collecting these bytes delays the first byte,
   * so leave this option out for an answer that waits for events. Default: every answer is streamed.
   */
  readonly wholeBytes?: number;
}

/**
 * Answers a request with a stream of chunks (R-G4).
 * @param write function that yields the chunks. Its signal aborts when the client disconnects or is too slow. The
 * function is not called for HEAD requests, which are answered with headers only.
 * @throws the error of `write` when it fails before the answer begins.
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
    // Ignores an error that the abort causes.
    pieces.return(undefined).catch(() => {});
  };
  // When the client disconnects before the answer begins, the server neither reads nor cancels the stream, so this
  // listener ends the generator of chunks.
  const { signal } = c.req.raw;
  signal.addEventListener('abort', end, { once: true });
  // If the client disconnected before the listener was added, the listener is never called.
  if (signal.aborted) end();
  const { begun, isWhole } = await begin(pieces, wholeBytes);
  if (signal.aborted) end();
  beforeFirst?.();
  if (isWhole) return c.body(Buffer.concat(begun));
  markStreamed(c);
  return c.body(toStream(c, begun, pieces, end, services));
}

/** Collects chunks until their total size exceeds `wholeBytes`. Collects only the first one when `wholeBytes` is 0. */
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
    const message =
      'an answer exceeded a limit for streamed answers; the connection is closed before the answer is complete';
    log.warn({ requestId: c.get('requestId'), reason }, message);
    leave();
    breakConnection(c);
  });
  // When the client disconnects before the first read, the stream is neither read nor cancelled, so only this listener
  // ends the timers of `pace`.
  c.req.raw.signal.addEventListener('abort', pace.end, { once: true });
  return new ReadableStream({
    pull: async (controller) => {
      pace.taken();
      try {
        const ready = begun.shift();
        const piece = ready ? { value: ready } : await pieces.next();
        // Lets the event loop serve other requests between chunks. Otherwise, they would wait for all buffered rows.
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
        const message =
          'streaming an answer failed; the service closes the connection, so the client gets an incomplete answer';
        log.error({ err: error, requestId: c.get('requestId') }, message);
        breakConnection(c, controller);
      }
    },
    cancel: leave,
  });
}

/**
 * Destroys the connection, because the HTTP server would handle an error of the stream badly. It would print the error
 * to standard error and, when nothing has been sent yet, send the error text to the client.
 */
function breakConnection(c: Context, controller?: ReadableStreamDefaultController): void {
  const { outgoing } = (c.env ?? {}) as Partial<HttpBindings>;
  if (outgoing) outgoing.destroy();
  else controller?.error(new Error('streaming the answer failed'));
}
