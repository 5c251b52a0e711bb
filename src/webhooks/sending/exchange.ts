/**
 * One HTTP exchange with an untrusted receiver. The receiver may send nothing, one byte a minute, an endless answer or
 * something that is not HTTP. The exchange always ends within its time-out and keeps at most 4 KiB of the body.
 */
import http from 'node:http';
import https from 'node:https';
import type { GuardedAgents } from './guarded-agents.ts';

export interface OutgoingRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The response; `bytes` is the start of its body, at most 4 KiB. */
export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly isCut: boolean;
}

/**
 * Result of an exchange. `error` is absent when the response was received completely, was cut off at MAX_BYTES, or
 * switched protocols.
 */
export interface Reply {
  readonly answer?: Answer;
  readonly error?: Error;
}

/** Name resolution, connection, TLS and response together exceeded the time-out. */
export class TimeOutError extends Error {
  override readonly name = 'TimeOutError';
}

const KEPT_BYTES = 4096;
// A body of at most this many bytes is read to its end; the connection can then be used again. When a body is longer,
// the connection is closed.
const MAX_BYTES = 65_536;
export const MAX_HEADER_BYTES = 16_384;
const MAX_STALE_CONNECTIONS = 5;
const GONE: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);

/**
 * Sends a request; repeats it immediately, up to five times, when a kept-alive connection turns out to be closed.
 * Whatever the receiver does, the promise does not reject.
 * @param timeoutMs time-out of the whole exchange.
 */
export async function exchange(request: OutgoingRequest, agents: GuardedAgents, timeoutMs: number): Promise<Reply> {
  const deadline = performance.now() + timeoutMs;
  for (let tries = 0; ; tries++) {
    const { isStale, ...reply } = await exchangeOnce(request, agents, Math.max(deadline - performance.now(), 1));
    if (!isStale || tries === MAX_STALE_CONNECTIONS) return reply;
  }
}

/**
 * Sends the request once. `isStale` means that a kept-alive connection broke before any response, so the receiver had
 * probably closed the connection before the request arrived.
 */
function exchangeOnce(
  { url, method, headers, body }: OutgoingRequest,
  agents: GuardedAgents,
  timeoutMs: number,
): Promise<Reply & { readonly isStale: boolean }> {
  return new Promise((resolve) => {
    const isSecure = url.protocol === 'https:';
    const request = (isSecure ? https : http).request(url, {
      method,
      headers,
      agent: isSecure ? agents.https : agents.http,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    let reading: AnswerReading | undefined;
    const end = (error?: Error): void => {
      clearTimeout(timer);
      const isStale =
        request.reusedSocket && !reading && error !== undefined && 'code' in error && GONE.has(error.code);
      resolve({ ...(reading && { answer: reading.answer() }), ...(error && { error }), isStale });
      if (error || !reading?.isAtEnd()) request.destroy();
    };
    // The timer calls `end` directly, because a destroyed request without a connection emits no event.
    const timer = setTimeout(() => end(new TimeOutError()), timeoutMs);
    request.on('error', end);
    request.on('response', (response) => {
      reading = readAnswer(response, end);
    });
    request.on('upgrade', (response) => {
      reading = readAnswer(response, end);
      end();
    });
    request.end(body);
  });
}

interface AnswerReading {
  answer(): Answer;
  isAtEnd(): boolean;
}

/**
 * @param onEnd called when the body ends or is larger than MAX_BYTES. When an error cuts the body short, `onEnd` is
 * called with this error.
 */
function readAnswer(response: http.IncomingMessage, onEnd: (error?: Error) => void): AnswerReading {
  const kept: Buffer[] = [];
  let length = 0;
  response.on('data', (chunk: Buffer) => {
    if (length < KEPT_BYTES) kept.push(chunk.subarray(0, KEPT_BYTES - length));
    length += chunk.length;
    if (length > MAX_BYTES) onEnd();
  });
  response.on('end', () => onEnd());
  response.on('error', onEnd);
  return {
    answer: () => ({
      status: response.statusCode ?? 0,
      headers: response.headers,
      bytes: Buffer.concat(kept),
      isCut: length > KEPT_BYTES,
    }),
    isAtEnd: () => response.complete,
  };
}
