/** Tests how the sender of webhook messages handles hostile receivers (R-I3). */
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { Sender, SenderOptions } from '../../../../src/webhooks/sending/send-message.ts';
import { MESSAGE, openTestSender, type RawServer, startRawServer, targetAt } from './webhooks-sending-fixture.ts';

const TIMEOUT_MS = 400;
const NO_ANSWER = 'the receiver did not respond within 0.4 s';
const CLOSED = 'the receiver closed the connection without a response';

let server: RawServer | undefined;
let sender: Sender | undefined;

afterEach(async () => {
  sender?.close();
  await server?.close();
});

async function sendTo(onRequest: (socket: Socket, count: number) => void, options: Partial<SenderOptions> = {}) {
  server = await startRawServer(onRequest);
  sender = openTestSender({ timeoutMs: TIMEOUT_MS, ...options });
  return sender.send(targetAt(server.url), MESSAGE);
}

/** Sends `bit` every 20 ms while the connection is open. */
function drip(socket: Socket, bit: string): void {
  const timer = setInterval(() => socket.write(bit), 20);
  socket.on('close', () => clearInterval(timer));
}

describe('webhook sending: the time-out (R-I3)', () => {
  test('ends an attempt when the receiver never responds', async () => {
    expect(await sendTo(() => {})).toMatchObject({ state: 'Failed', error: NO_ANSWER });
  });

  test('ends an attempt even while the response headers keep arriving byte by byte', async () => {
    const outcome = await sendTo((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
      drip(socket, 'x');
    });
    expect(outcome).toMatchObject({ state: 'Failed', error: NO_ANSWER });
    // A timer counts whole milliseconds, but the clock that measures the duration counts fractions, so the measured
    // duration may be up to 1 ms shorter than the time-out.
    expect(outcome.durationMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 1);
    expect(outcome.durationMs).toBeLessThan(5 * TIMEOUT_MS);
  });

  test('ends an attempt when the receiver sends 1xx responses without end', async () => {
    const outcome = await sendTo((socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n'));
    expect(outcome).toMatchObject({ state: 'Failed', error: NO_ANSWER });
  });

  test('ends an attempt even while the response body keeps arriving; the attempt counts as failed', async () => {
    const outcome = await sendTo((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\nbegun');
      drip(socket, '.');
    });
    expect(outcome).toMatchObject({
      state: 'Failed',
      error: 'the response was incomplete after 0.4 s',
      response: { status: 200, body: expect.stringMatching(/^begun\.*$/) },
    });
  });

  test('ends an attempt when the name servers that the service asks do not answer', async () => {
    sender = openTestSender({ timeoutMs: TIMEOUT_MS, resolve: () => new Promise(() => {}) });
    const outcome = await sender.send(targetAt('http://receiver.test/'), MESSAGE);
    expect(outcome).toMatchObject({ state: 'Failed', error: NO_ANSWER });
    expect(outcome.durationMs).toBeLessThan(5 * TIMEOUT_MS);
  });
});

describe('webhook sending: an invalid or missing response is a failure (R-I3)', () => {
  test.each([
    ['a connection closed without a response', '', CLOSED],
    ['a text that is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'the response of the receiver is not valid HTTP'],
    [
      'two Content-Length headers',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      'the response of the receiver is not valid HTTP',
    ],
    [
      'an invalid chunk of the body',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n',
      'the response of the receiver is not valid HTTP',
    ],
    ['large headers', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 'the response headers exceed 16 KiB'],
    ['half a response', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf', 'the receiver broke off its response'],
    [
      'the status 101 Switching Protocols',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      'the receiver answered 101',
    ],
  ])('%s', async (_what, bytes, error) => {
    const outcome = await sendTo((socket) => socket.end(bytes), { timeoutMs: 5000 });
    expect(outcome).toMatchObject({ state: 'Failed', error });
  });

  test('a refused connection', async () => {
    const closed = await startRawServer(() => {});
    await closed.close();
    sender = openTestSender();
    const outcome = await sender.send(targetAt(closed.url), MESSAGE);
    expect(outcome).toMatchObject({ state: 'Failed', error: 'the receiver refused the connection' });
    expect(outcome.response).toBeUndefined();
  });
});

test('webhook sending: the first 4 KiB of an endless response body are kept, and the connection is closed (R-I5)', async () => {
  let written = 0;
  const closed = Promise.withResolvers<number>();
  const sent = sendTo(
    (socket) => {
      const chunk = Buffer.alloc(65_536, 'x');
      const fill = (): void => {
        while (socket.writable && socket.write(chunk)) written += chunk.length;
      };
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.on('drain', fill).on('close', () => closed.resolve(written));
      fill();
    },
    { timeoutMs: 5000 },
  );
  expect(await sent).toMatchObject({ state: 'Succeeded', response: { body: 'x'.repeat(4096) } });
  expect(await closed.promise).toBeLessThan(64 << 20);
});

test('webhook sending: a stale kept-alive connection is replaced within the same attempt (R-I3)', async () => {
  const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
  const first = await sendTo((socket, count) => (count === 2 ? socket.destroy() : socket.write(answer)), {
    timeoutMs: 5000,
  });
  expect(first.state).toBe('Succeeded');
  expect(await sender?.send(targetAt(server?.url ?? ''), MESSAGE)).toMatchObject({ state: 'Succeeded' });
});
