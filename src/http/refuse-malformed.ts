/**
 * Answers input that is not HTTP or exceeds Node's limits of size and time. The body of the answer has the form of all
 * errors (R-A5), and the connection is closed, because the start of the next request is unknown.
 */
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { API_VERSION } from '../platform/http/api-version.ts';

export interface Refusal {
  readonly status: string;
  readonly message: string;
}

const MALFORMED: Refusal = { status: '400 Bad Request', message: 'the request must be valid HTTP/1.1' };
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_INVALID_URL: {
    status: '400 Bad Request',
    message:
      'the URL must be valid and consist of printable ASCII characters; encode each UTF-8 byte of other characters as %XX',
  },
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    message:
      'the URL and headers of the request are too large; send long queries as the body of POST /data, and fewer or shorter headers',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    message: 'the request was not received completely in time',
  },
};

/**
 * Makes a server answer malformed, too large and too slow requests with an error body (R-A5); Node alone sends no body.
 */
export function refuseMalformed(server: Server): void {
  const answering = new WeakSet<Duplex>();
  server.on('request', ({ socket }, outgoing) => {
    answering.add(socket);
    outgoing.once('close', () => answering.delete(socket));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy(error);
    else refuse(socket, REFUSALS[error.code ?? ''] ?? MALFORMED, !answering.has(socket));
  });
}

/**
 * Writes a refusal to the connection, past the app, and closes the connection.
 * @param mayAnswer false: sends no refusal, because another answer is under way, and the client would read the refusal
 * as a part of that answer.
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
