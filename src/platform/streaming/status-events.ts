/**
 * Answers a request with server-sent events about background work, until the work ends or is deleted, or the client
 * disconnects (R-E1, R-A14).
 */
import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { markStreamed } from '../http/streamed-answer.ts';
import type { BudgetOwner } from '../shares/shared-budget.ts';
import type { StatusListener, StatusWatch } from './status-watch.ts';

// An SSE comment is sent after this time without a change, because proxies and our HTTP server close idle connections.
const KEEP_ALIVE_MS = 15_000;

export interface Followed<Status> {
  readonly watch: StatusWatch<Status>;
  readonly caller: BudgetOwner;
  /** Id of the background work, and its state when the client's request arrived. */
  readonly first: Status & { readonly id: string };
  /** Returns true when `status` is a final state of the work. The stream ends after the event for this state. */
  readonly isOver: (status: Status) => boolean;
}

/**
 * Sends the event `progress` now and after each change, and the event `end` when the state is final. When the work is
 * deleted, the stream ends without `end`.
 * @throws {DomainError} rate_limited and dependency_unavailable from `StatusWatch.follow`.
 */
export function answerEvents<Status extends object>(
  c: Context,
  followed: Followed<Status>,
): Response | Promise<Response> {
  // Adds no follower for HEAD: Hono drops the body of the answer without cancelling it, so the follower would never be
  // removed.
  if (c.req.method === 'HEAD') return c.body(null, 200, { 'Content-Type': 'text/event-stream' });
  const { watch, caller, first } = followed;
  const { states, listener } = collectStates<Status>(first);
  const leave = watch.follow(caller, first.id, listener);
  // The end of the stream removes the follower. This listener removes it too, because a disconnect of the client does
  // not end a stream that nothing has read yet.
  c.req.raw.signal.addEventListener('abort', () => {
    leave();
    listener(undefined);
  });
  markStreamed(c);
  return streamSSE(c, async (stream) => {
    stream.onAbort(() => listener(undefined));
    await sendProgress(stream, followed, states).finally(leave);
  });
}

/**
 * Sends `progress` for the first state and after changes, and `end` for a final state; sends a comment after every
 * 15 s without a change.
 */
async function sendProgress<Status extends object>(
  stream: SSEStreamingApi,
  { first, isOver }: Pick<Followed<Status>, 'first' | 'isOver'>,
  states: States<Status>,
): Promise<void> {
  for (let status: Status | undefined = first; !stream.aborted; status = await states.next(KEEP_ALIVE_MS)) {
    if (status === undefined) await stream.write(': keep-alive\n\n');
    else if (isOver(status)) return stream.writeSSE({ event: 'end', data: JSON.stringify(status) });
    else await stream.writeSSE({ event: 'progress', data: JSON.stringify(status) });
    if (states.hasEnded()) return;
  }
}

interface States<Status> {
  /**
   * @returns the newest state not returned yet; undefined if no state arrives within `waitMs`, or if `hasEnded()` is
   *   true.
   */
  next(waitMs: number): Promise<Status | undefined>;
  /** Returns true when the work was deleted or the client disconnected. */
  hasEnded(): boolean;
}

/**
 * Keeps the newest state until the client can receive it; a newer state replaces it. Drops a state that equals the
 * state before it.
 */
function collectStates<Status>(first: Status): {
  readonly states: States<Status>;
  readonly listener: StatusListener<Status>;
} {
  let newest: Status | undefined;
  let seen = JSON.stringify(first);
  let hasEnded = false;
  let wake = (): void => {};
  return {
    listener: (status) => {
      const text = JSON.stringify(status);
      if (status && text === seen) return;
      hasEnded = !status;
      newest = status;
      seen = text;
      wake();
    },
    states: {
      next: async (waitMs) => {
        if (!newest && !hasEnded) {
          let timer: NodeJS.Timeout | undefined;
          await new Promise<void>((resolve) => {
            wake = resolve;
            timer = setTimeout(resolve, waitMs);
          });
          clearTimeout(timer);
        }
        const status = newest;
        newest = undefined;
        return status;
      },
      hasEnded: () => hasEnded,
    },
  };
}
