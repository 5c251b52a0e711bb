/**
 * Answers that are written while they are read (R-G4): the first piece is waited for, so that a query that fails at once
 * is answered with its error; what fails later breaks the transfer, never ends it as if it were whole. A client that
 * goes away ends the query.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { CallerEnv } from '../identity/authentication/authenticate.ts';
import { markStreamed } from '../platform/http/streamed-answer.ts';
import type { Log } from '../platform/log.ts';
import { countedPieces, type ReadMetrics } from './read-metrics.ts';

/**
 * @param write begins the writing; the signal aborts when the client has left, or the answer is not wanted any more.
 *   Of a HEAD request only the headers are answered, and nothing is begun.
 */
export async function streamAnswer(
  c: Context<CallerEnv>,
  contentType: string,
  write: (signal: AbortSignal) => AsyncGenerator<Uint8Array>,
  { log, readMetrics }: { readonly log: Log; readonly readMetrics: ReadMetrics },
): Promise<Response> {
  markStreamed(c);
  c.header('Content-Type', contentType);
  c.header('Vary', 'Accept');
  if (c.req.method === 'HEAD') return c.body(null);
  const leaving = new AbortController();
  const pieces = countedPieces(write(leaving.signal), readMetrics);
  const end = (): void => {
    leaving.abort();
    // What the abort makes fail, fails for nobody.
    pieces.return(undefined).catch(() => {});
  };
  // A client that is gone before the answer begins: nobody reads the stream then, and nobody cancels it.
  const { signal } = c.req.raw;
  signal.addEventListener('abort', end, { once: true });
  // One that has left already will not be heard of again.
  if (signal.aborted) end();
  const first = await pieces.next();
  if (signal.aborted) end();
  return c.body(toStream(c, first, pieces, end, log));
}

function toStream(
  c: Context,
  first: IteratorResult<Uint8Array>,
  pieces: AsyncGenerator<Uint8Array>,
  end: () => void,
  log: Log,
): ReadableStream {
  let next: IteratorResult<Uint8Array> | undefined = first;
  let isLeft = false;
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const piece = next ?? (await pieces.next());
        next = undefined;
        // Rows that have already arrived would otherwise be written one batch after the other, and nobody else served.
        await nextTurn();
        if (isLeft) return;
        if (piece.done) controller.close();
        else controller.enqueue(piece.value);
      } catch (error) {
        if (isLeft || c.req.raw.signal.aborted) return;
        log.error({ err: error, requestId: c.get('requestId') }, 'an answer broke off');
        breakOff(c, controller);
      }
    },
    cancel: () => {
      isLeft = true;
      end();
    },
  });
}

/**
 * Cuts the connection. The server below would show the error's text to the client when nothing has been sent yet, and
 * print it to the console; a stream that ends with its connection is simply cancelled.
 */
function breakOff(c: Context, controller: ReadableStreamDefaultController): void {
  const { outgoing } = (c.env ?? {}) as Partial<HttpBindings>;
  if (outgoing) outgoing.destroy();
  else controller.error(new Error('the answer broke off'));
}
