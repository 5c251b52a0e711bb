/**
 * One HTTP exchange with a receiver that may do anything: never answer, answer a byte a minute, without end, or with
 * what is no HTTP. Whatever it does, this ends in time and keeps at most 4 KiB of it.
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

/** What came of an answer; `bytes` are the first of its body. */
export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly isCut: boolean;
}

/** There is an error unless the answer came to its end, or to where it is of no more interest. */
export interface Reply {
  readonly answer?: Answer;
  readonly error?: Error;
}

/** The time for everything together was over: name, connection, TLS, answer. */
export class TimeOutError extends Error {
  override readonly name = 'TimeOutError';
}

const KEPT_BYTES = 4096;
// Read and thrown away, since a connection costs more than they do; after that the connection is closed.
const MAX_BYTES = 65_536;
export const MAX_HEADER_BYTES = 16_384;
const MAX_STALE_CONNECTIONS = 5;
const GONE: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);

/** @param timeoutMs for all of it. Never rejects. */
export async function exchange(request: OutgoingRequest, agents: GuardedAgents, timeoutMs: number): Promise<Reply> {
  const deadline = performance.now() + timeoutMs;
  for (let tries = 0; ; tries++) {
    const { isStale, ...reply } = await exchangeOnce(request, agents, Math.max(deadline - performance.now(), 1));
    if (!isStale || tries === MAX_STALE_CONNECTIONS) return reply;
  }
}

/** `isStale`: the receiver had closed a connection that was kept, so it never saw this. */
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
    // While there is no connection yet, destroying a request tells nobody.
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

/** @param onEnd called once there is nothing more of interest, or with what broke it off. */
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
