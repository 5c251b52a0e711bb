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
  /** Limits of the clients. */
  readonly readPace: PaceLimits;
}

/**
 * Answers a request with a stream of pieces (R-G4).
 * @param write creates the pieces; its signal aborts when the client disconnects. Not called for HEAD requests, which
 *   are answered with the headers alone.
 * @param beforeFirst runs when the first piece is ready, before the answer begins; may still set headers.
 * @throws the error of the first piece.
 */
export async function streamAnswer(
  c: Context,
  headers: Readonly<Record<string, string>>,
  write: (signal: AbortSignal) => AsyncGenerator<Uint8Array>,
  services: StreamServices,
  beforeFirst?: () => void,
): Promise<Response> {
  markStreamed(c);
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  if (c.req.method === 'HEAD') return c.body(null);
  const leaving = new AbortController();
  const pieces = write(leaving.signal);
  const end = (): void => {
    leaving.abort();
    // Errors caused by the abort have no recipient.
    pieces.return(undefined).catch(() => {});
  };
  // When the client leaves before the answer begins, the stream is neither read nor cancelled.
  const { signal } = c.req.raw;
  signal.addEventListener('abort', end, { once: true });
  // No event follows when the client has already left.
  if (signal.aborted) end();
  const first = await pieces.next();
  if (signal.aborted) end();
  beforeFirst?.();
  return c.body(toStream(c, first, pieces, end, services));
}

function toStream(
  c: Context,
  first: IteratorResult<Uint8Array>,
  pieces: AsyncGenerator<Uint8Array>,
  end: () => void,
  { log, readPace }: StreamServices,
): ReadableStream {
  let next: IteratorResult<Uint8Array> | undefined = first;
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
        const piece = next ?? (await pieces.next());
        next = undefined;
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
