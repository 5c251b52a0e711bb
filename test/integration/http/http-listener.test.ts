/** Tests how the HTTP server stops (R-K2) and how it treats stalled connections, malformed requests and slow bodies. */
import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { refuseMalformed } from '../../../src/http/refuse-malformed.ts';
import { type HttpListener, listenHttp } from '../../../src/roles/http-listener.ts';
import { eventually } from '../../support/eventually.ts';

const ENDLESS = 64 << 20;
let listener: HttpListener;
afterEach(() => listener?.stop(0));

const ok = () => new Response('ok');

/**
 * Serves an answer that is far larger than all buffers between server and client.
 * @returns a function that tells whether the server ended the answer early.
 */
function serveEndless(): () => boolean {
  let isCancelled = false;
  listener.serve(() => {
    const piece = new Uint8Array(1 << 16);
    let sent = 0;
    const pull = (controller: ReadableStreamDefaultController) => {
      sent += piece.length;
      controller.enqueue(piece);
      if (sent > ENDLESS) controller.close();
    };
    const cancel = () => {
      isCancelled = true;
    };
    return new Response(new ReadableStream({ pull, cancel }));
  });
  return () => isCancelled;
}

/** Opens a client that sends a request and never reads the answer. */
async function stall(): Promise<void> {
  const socket = connect(listener.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  await once(socket, 'connect');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
}

test('http listener: until the service serves, a request gets 503 with an error body and the request id of the client (R-A2, R-A5, R-A10)', async () => {
  listener = await listenHttp('127.0.0.1', 0);
  const url = `http://127.0.0.1:${listener.port}/data`;
  const answer = await fetch(url, { method: 'POST', headers: { 'X-Request-Id': 'r1' } });
  expect(answer.status).toBe(503);
  const headers = ['api-version', 'retry-after', 'x-request-id'].map((name) => answer.headers.get(name));
  expect(headers).toEqual(['1.7', '1', 'r1']);
  expect(await answer.json()).toEqual({
    ...{ code: 'dependency_unavailable', message: 'the service is starting; try again in 1 s', requestId: 'r1' },
  });
});

describe('http listener: stop()', () => {
  test('completes even when a client keeps sending requests on its connection (R-K2)', async () => {
    listener = await listenHttp('127.0.0.1', 0);
    listener.serve(ok);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let answers = 0;
    let isStopped = false;
    const ask = (): void => {
      get({ port: listener.port, host: '127.0.0.1', agent }, (response) => {
        response.resume().on('end', () => {
          answers += 1;
          if (!isStopped) ask();
        });
      }).on('error', () => {});
    };
    ask();
    await eventually('a conversation', async () => answers > 10);
    await listener.stop(20_000);
    isStopped = true;
    agent.destroy();
    await expect(fetch(`http://127.0.0.1:${listener.port}/`)).rejects.toThrow('fetch failed');
  }, 10_000);

  test('completes when the shutdown time is over, and aborts an answer that the client does not read (R-K2)', async () => {
    listener = await listenHttp('127.0.0.1', 0);
    const isCancelled = serveEndless();
    await stall();
    await listener.stop(300);
    await eventually('the end of the answer', async () => isCancelled());
  }, 10_000);
});

test('http listener: a stalled connection is closed after its timeout', async () => {
  listener = await listenHttp('127.0.0.1', 0, { stalledMs: 500 });
  const isCancelled = serveEndless();
  await stall();
  await eventually('the end of the answer', async () => isCancelled());
}, 25_000);

describe('http listener: malformed requests', () => {
  test.each([
    ['a URL with characters beyond ASCII', 'GET /data?version=\u00e9 HTTP/1.1\r\nHost: x\r\n\r\n', '400', /%XX/],
    ['text that is not HTTP', 'hello\r\n\r\n', '400', /HTTP\/1\.1; the parser reports: \w/],
    ['headers of 70 kB', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, '431', /shorter than 16 KiB/],
    [
      'a URL of 70 kB',
      `GET /data?variableIds=${'1,'.repeat(35_000)}1 HTTP/1.1\r\nHost: x\r\n\r\n`,
      '431',
      /POST \/data/,
    ],
  ])(
    'the answer to %s has the same error body and headers as other errors of the service (R-A2, R-A5, R-A10)',
    async (_, sent, status, message) => {
      listener = await listenHttp('127.0.0.1', 0);
      listener.serve(ok);
      const socket = connect(listener.port, '127.0.0.1');
      socket.end(sent);
      const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
      expect(head).toContain(`HTTP/1.1 ${status}`);
      expect(head).toContain('Api-Version: 1.7');
      const { requestId } = JSON.parse(body);
      expect(JSON.parse(body)).toMatchObject({ code: 'invalid_input', message: expect.stringMatching(message) });
      expect(head).toContain(`X-Request-Id: ${requestId}`);
    },
  );

  test('a request that does not arrive in time is answered with 408, and the error names the limits (R-A5)', async () => {
    const server = createServer({ headersTimeout: 200, requestTimeout: 400, connectionsCheckingInterval: 50 });
    refuseMalformed(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\n');
    const answer = await text(socket);
    server.close();
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('the whole request must arrive within 0.4 s, and its URL and headers within 0.2 s');
  });

  test('the connection is closed without an error response when malformed input arrives before the previous request is answered (R-A5)', async () => {
    listener = await listenHttp('127.0.0.1', 0);
    const gate = Promise.withResolvers<Response>();
    listener.serve(() => gate.promise);
    const socket = connect(listener.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nhello\r\n\r\n');
    expect(await text(socket)).toBe('');
    gate.resolve(ok());
  });
});

describe('http listener: a minimum rate of request bodies', () => {
  const LIMITS = { minBodyBytesPerSec: 1000, bodyGraceSec: 1 };
  const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n';
  /**
   * Sends a request whose body arrives slowly.
   * @param bytes number of bytes that are sent every 100 ms.
   * @returns the answer; empty when the connection was closed without an answer.
   */
  const trickle = async (port: number, bytes: number): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(HEAD);
    const timer = setInterval(() => bytes > 0 && socket.writable && socket.write('x'.repeat(bytes)), 100);
    const answer = await text(socket);
    clearInterval(timer);
    return answer;
  };

  test('a request gets 408 when its body stalls or arrives below the minimum rate, but not when the service reads the body late (R-A14, R-A5)', async () => {
    listener = await listenHttp('127.0.0.1', 0, LIMITS);
    const { port } = listener;
    const failures: unknown[] = [];
    listener.serve(async (request) => {
      // The app reads the body of `/late` after the grace time. A client that has sent its whole body does not count
      // as slow, even if the app has not read the body yet.
      if (request.url.endsWith('/late')) await new Promise((resolve) => setTimeout(resolve, 3500));
      const body = await request.arrayBuffer().catch((error: unknown) => failures.push(error));
      return new Response(typeof body === 'number' ? undefined : String(body.byteLength));
    });
    const [stalled, slow, fast, late] = await Promise.all([
      trickle(port, 0),
      trickle(port, 10),
      Promise.race([trickle(port, 200), new Promise((resolve) => setTimeout(resolve, 3800, 'under way'))]),
      fetch(`http://127.0.0.1:${port}/late`, { method: 'POST', body: new Uint8Array(1_000_000) }),
    ]);
    for (const answer of [stalled, slow]) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      expect(answer).toContain('at 1000 bytes per second or faster; send the request again, or split it');
      expect(answer).toContain('Connection: close');
    }
    expect(fast).toBe('under way');
    expect([late.status, await late.text()]).toEqual([200, '1000000']);
    await eventually('the app to be notified', async () => failures.length === 2);
  }, 15_000);
});
