/** A plain HTTP receiver on loopback: it records each request and sends the configured answer. */
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ReceivedMessage {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly port: number;
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  /** Received requests, oldest first. */
  readonly messages: readonly ReceivedMessage[];
  /** @returns the number of connections so far. */
  connections(): number;
  /** Sets how requests are answered from now on. By default, the receiver answers with status 200. */
  answerWith(answer: RequestListener): void;
  close(): Promise<void>;
}

const answerOk: RequestListener = (_request, response) => {
  response.end('ok');
};

export async function startReceiver(): Promise<Receiver> {
  const messages: ReceivedMessage[] = [];
  let answer = answerOk;
  let connections = 0;
  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        messages.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body });
        answer(request, response);
      },
      () => response.destroy(),
    );
  });
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    messages,
    connections: () => connections,
    answerWith: (given) => {
      answer = given;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
