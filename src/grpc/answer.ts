/** Authenticates, answers and logs each call of the data points service (R-J2, R-J3). */
import { randomUUID } from 'node:crypto';
import {
  status as GrpcStatus,
  Metadata,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { type Authentication, authenticateBearer } from '../identity/authentication/authenticate.ts';
import type { Caller } from '../identity/caller/caller.ts';
import { assertRate, DomainError } from '../platform/errors.ts';
import { isRequestId } from '../platform/http/request-id.ts';
import type { Log } from '../platform/log.ts';
import { runForAccount } from '../platform/shares/connection-shares.ts';
import { type ClientPace, type PaceLimits, watchPace } from '../platform/streaming/client-pace.ts';
import { toStatus } from './status.ts';

export interface AnswerServices {
  readonly authentication: Authentication;
  /** Request budget of each user (R-B15). `count` resolves to milliseconds to wait; 0 when the call may proceed. */
  readonly users: { readonly rule: string; count(userId: string): Promise<number> };
  readonly log: Log;
}

export interface StreamServices extends AnswerServices {
  /** Limits on how slowly a client may read a streamed answer. */
  readonly readPace: PaceLimits;
}

/** A message and a number to log: how many points, buckets, versions or script runs the message contains. */
export interface Counted<Message> {
  readonly message: Message;
  readonly count: number;
  /** Approximate size of the message in bytes, to measure the client's reading speed; undefined when unknown. */
  readonly bytes?: number;
}

type AnyCall = Pick<ServerUnaryCall<unknown, unknown>, 'metadata' | 'cancelled'>;

/** Sends initial metadata. Use it once, before the first message: gRPC ignores initial metadata that is sent again. */
export type SendMetadata = (entries: readonly (readonly [name: string, value: string])[]) => void;

type AnsweringCall = Pick<ServerUnaryCall<unknown, unknown>, 'sendMetadata' | 'cancelled'>;

function metadataSender(call: AnsweringCall): SendMetadata {
  return (entries) => {
    if (call.cancelled || entries.length === 0) return;
    const metadata = new Metadata();
    for (const [name, value] of entries) metadata.set(name, value);
    call.sendMetadata(metadata);
  };
}

/** @returns the handler of a call that answers with one message (R-J2). */
export function unaryHandler<Request, Message>(
  services: AnswerServices,
  method: string,
  answer: (caller: Caller, request: Request, signal: AbortSignal, send: SendMetadata) => Promise<Counted<Message>>,
): (call: ServerUnaryCall<Request, Message>, callback: sendUnaryData<Message>) => void {
  return (call, callback) => {
    const leaving = abortOnCancel(call);
    const work = async (known: (caller: Caller) => void): Promise<number> => {
      const caller = await authenticateCall(services, call);
      known(caller);
      const { message, count } = await runForAccount(caller.accountId, () =>
        answer(caller, call.request, leaving.signal, metadataSender(call)),
      );
      callback(null, message);
      return count;
    };
    track(services, method, call, work, (status) => callback(status));
  };
}

/**
 * @returns the handler of a call that streams the messages of `answer` with back-pressure, until the messages end or
 *   the caller leaves (R-J2). A caller that exceeds a limit of `readPace` gets RESOURCE_EXHAUSTED (R-A14).
 */
export function streamHandler<Request, Message>(
  services: StreamServices,
  method: string,
  answer: (
    caller: Caller,
    request: Request,
    signal: AbortSignal,
    send: SendMetadata,
  ) => AsyncIterable<Counted<Message>>,
): (call: ServerWritableStream<Request, Message>) => void {
  return (call) => {
    const leaving = abortOnCancel(call);
    const work = async (known: (caller: Caller) => void): Promise<number> => {
      const caller = await authenticateCall(services, call);
      known(caller);
      const pace = watchPace(services.readPace, (reason) => leaving.abort(new DomainError('rate_limited', reason)));
      try {
        const messages = answer(caller, call.request, leaving.signal, metadataSender(call));
        return await runForAccount(caller.accountId, () => writeMessages(call, messages, leaving.signal, pace));
      } finally {
        pace.end();
      }
    };
    track(services, method, call, work, (status) => call.emit('error', status));
  };
}

/**
 * @returns the sum of `count` of the messages written.
 * @throws the errors of `messages`; the reason of `signal` when the caller reads too slowly.
 */
async function writeMessages<Message>(
  call: ServerWritableStream<unknown, Message>,
  messages: AsyncIterable<Counted<Message>>,
  signal: AbortSignal,
  pace: ClientPace,
): Promise<number> {
  let total = 0;
  for await (const { message, count, bytes } of messages) {
    if (call.cancelled) break;
    total += count;
    pace.offer(bytes);
    await writeMessage(call, message, signal);
    if (!call.cancelled) signal.throwIfAborted();
    pace.taken();
  }
  call.end();
  return total;
}

type Sink<Message> = Pick<ServerWritableStream<unknown, Message>, 'write' | 'once' | 'off'>;

/** Writes a message. Resolves when the stream can accept a further message, or when `signal` is aborted. */
async function writeMessage<Message>(sink: Sink<Message>, message: Message, signal: AbortSignal): Promise<void> {
  if (sink.write(message) || signal.aborted) return;
  // `events.once` is not used: it rejects when `signal` is aborted, but this promise must resolve.
  await new Promise<void>((resolve) => {
    const go = (): void => {
      sink.off('drain', go);
      signal.removeEventListener('abort', go);
      resolve();
    };
    sink.once('drain', go);
    signal.addEventListener('abort', go);
  });
}

/** @returns the value of the metadata key `authorization` of a call; undefined when the call does not have this key. */
export function authorizationOf({ metadata }: Pick<AnyCall, 'metadata'>): string | undefined {
  return metadata.get('authorization')[0]?.toString();
}

/**
 * Finds the caller of a call by its `authorization` metadata (R-J2), and counts the call like a REST request
 * (R-B15).
 * @throws {DomainError} the errors of `authenticateBearer`; rate_limited when the user exceeds the request budget.
 */
export async function authenticateCall({ authentication, users }: AnswerServices, call: AnyCall): Promise<Caller> {
  const caller = await authenticateBearer(authentication, authorizationOf(call), 'datahub-api');
  assertRate(await users.count(caller.userId), users.rule);
  return caller;
}

/** @returns an AbortController that is aborted when the caller leaves or the deadline of the call passes. */
export function abortOnCancel(call: AnyCall & { once(name: 'cancelled', listener: () => void): unknown }) {
  const leaving = new AbortController();
  call.once('cancelled', () => leaving.abort());
  if (call.cancelled) leaving.abort();
  return leaving;
}

/**
 * Runs the work of a call and logs the outcome.
 * @param work function that answers the call and passes the caller to `known`. Its promise resolves to the number of
 *   points, buckets, versions or script runs that were sent.
 * @param fail sends an error status; not called when the caller has left or the deadline of the call has passed.
 */
export function track(
  { log }: AnswerServices,
  method: string,
  call: AnyCall,
  work: (known: (caller: Caller) => void) => Promise<number>,
  fail: (status: ReturnType<typeof toStatus>) => void,
): void {
  const requestId = requestIdOf(call);
  const startMs = performance.now();
  let caller: Caller | undefined;
  const note = (outcome: { readonly count: number } | { readonly code: string | undefined }): void => {
    const durationMs = Math.round((performance.now() - startMs) * 10) / 10;
    const account = caller && { accountId: caller.accountId, userId: caller.userId, actorUserId: caller.actor?.userId };
    log.info({ requestId, ...account, method, ...outcome, durationMs, isCancelled: call.cancelled }, 'call');
  };
  const known = (found: Caller): void => {
    caller = found;
  };
  work(known).then(
    (count) => note({ count }),
    (error: unknown) => {
      // A cancelled call gets no answer: its errors are caused by the cancellation.
      const refusal = call.cancelled ? undefined : toStatus(error, requestId, log);
      note({ code: refusal?.code === undefined ? undefined : GrpcStatus[refusal.code] });
      if (refusal) fail(refusal);
    },
  );
}

/**
 * Returns the request id that the client sent. When the client sent no id, or an id that `isRequestId` refuses,
 * returns a new id (R-A10).
 */
function requestIdOf({ metadata }: AnyCall): string {
  const given = String(metadata.get('x-request-id')[0] ?? '');
  return isRequestId(given) ? given : randomUUID();
}
