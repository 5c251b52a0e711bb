/**
 * Answers input that is not HTTP or that exceeds Node's size or time limits. The body of the answer has the same
 * members as the body of every error (R-A5). Then closes the connection, because the start of the next request is
 * unknown.
 */
import { randomUUID } from 'node:crypto';
import { maxHeaderSize, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { API_VERSION } from '../platform/http/api-version.ts';

export interface Refusal {
  readonly status: string;
  readonly message: string;
}

const MALFORMED = 'the request must be valid HTTP/1.1';
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_INVALID_URL: {
    status: '400 Bad Request',
    message:
      'the URL must be valid and consist of printable ASCII characters; encode each UTF-8 byte of other characters as %XX',
  },
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    message: `the URL and headers of the request must be shorter than ${maxHeaderSize / 1024} KiB together; shorten the query or the headers, or send the query of GET /data as the body of POST /data`,
  },
};
const TOO_SLOW = 'ERR_HTTP_REQUEST_TIMEOUT';

/**
 * Makes a server send an error body for a malformed, too large or too slow request (R-A5). By default Node sends no
 * body.
 */
export function refuseMalformed(server: Server): void {
  const answering = new WeakSet<Duplex>();
  server.on('request', ({ socket }, outgoing) => {
    answering.add(socket);
    outgoing.once('close', () => answering.delete(socket));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy(error);
    else refuse(socket, refusalOf(error, server), !answering.has(socket));
  });
}

function refusalOf(error: NodeJS.ErrnoException, { headersTimeout, requestTimeout }: Server): Refusal {
  if (error.code === TOO_SLOW) {
    const limits = `the whole request must arrive within ${requestTimeout / 1000} s, and its URL and headers within ${headersTimeout / 1000} s`;
    return { status: '408 Request Timeout', message: `${limits}; send the request again` };
  }
  // Errors of Node's parser say in `reason` what is wrong.
  const reason = 'reason' in error ? `; the parser reports: ${error.reason}` : '';
  return REFUSALS[error.code ?? ''] ?? { status: '400 Bad Request', message: `${MALFORMED}${reason}` };
}

/**
 * Writes a refusal directly to the connection, without the app, and closes the connection.
 * @param mayAnswer false when another answer is under way. Then `refuse` only closes the connection, because the client
 * would read the refusal as a part of that answer.
 */
export function refuse(socket: Duplex, refusal: Refusal, mayAnswer: boolean): void {
  if (mayAnswer && socket.writable) socket.end(toAnswer(refusal), () => socket.destroy());
  else socket.destroy();
}

function toAnswer({ status, message }: Refusal): string {
  const requestId = randomUUID();
  const body = JSON.stringify({ code: 'invalid_input', message, requestId });
  const headers = [
    ...[`HTTP/1.1 ${status}`, 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`],
    ...[`Api-Version: ${API_VERSION}`, `X-Request-Id: ${requestId}`, 'Connection: close'],
  ];
  return `${headers.join('\r\n')}\r\n\r\n${body}`;
}
