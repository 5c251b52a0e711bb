/** HTTP/1.1 and gRPC clients that request an answer and do not read it. They work without a test runner. */
import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { createConnection, type Socket } from 'node:net';
import { encodeGrpcRequest } from './grpc-client.ts';

/**
 * Sends a GET request on a paused socket, which reads at most one chunk of the answer. The server can send more only
 * until the buffers of the operating system are full.
 */
export async function openUnread(origin: string, path: string, token: string | undefined): Promise<Socket> {
  const { hostname, port, host } = new URL(origin);
  const socket = createConnection(Number(port), hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n`);
  return socket;
}

/**
 * Calls ReadPoints on a new connection and never reads the answer, so that the flow-control window of the stream is
 * never opened again.
 */
export function openUnreadCall(grpc: string, request: object, token: string | undefined): ClientHttp2Session {
  const session = connect(`http://${grpc}`);
  session.on('error', () => {});
  const call = session.request({
    ':method': 'POST',
    ':path': '/tidemark.v1.DataPoints/ReadPoints',
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${token}`,
  });
  call.on('error', () => {});
  call.end(encodeGrpcRequest('ReadPoints', request));
  return session;
}
