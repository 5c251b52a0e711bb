/**
 * What is no HTTP, or breaks Node's limits for it, never reaches the app: it is answered here, with the same body as all
 * other errors (R-A5), and the connection is closed, since nobody knows where a next request would begin.
 */
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { API_VERSION } from '../platform/http/api-version.ts';

interface Refusal {
  readonly status: string;
  readonly message: string;
}

const MALFORMED: Refusal = { status: '400 Bad Request', message: 'this is no HTTP/1.1 request' };
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_INVALID_URL: {
    status: '400 Bad Request',
    message: 'the address may hold ASCII characters only; encode others as %XX of their UTF-8',
  },
  HPE_HEADER_OVERFLOW: { status: '431 Request Header Fields Too Large', message: 'the headers are too long' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'the request did not come to its end in time' },
};

/** Answers clients in the words of the service where Node would close with an empty answer. */
export function refuseMalformed(server: Server): void {
  const answering = new WeakSet<Duplex>();
  server.on('request', ({ socket }, outgoing) => {
    answering.add(socket);
    outgoing.once('close', () => answering.delete(socket));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // In the middle of an answer it would be read as a part of that.
    if (error.code === 'ECONNRESET' || !socket.writable || answering.has(socket)) socket.destroy(error);
    else socket.end(toAnswer(REFUSALS[error.code ?? ''] ?? MALFORMED));
  });
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
