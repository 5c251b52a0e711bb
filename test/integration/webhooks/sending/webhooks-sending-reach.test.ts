/** Addresses that a sender connects to (R-I4). In these tests, an allowed loopback address stands for a public one. */
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { nameResolver } from '../../../../src/webhooks/sending/connect-guarded.ts';
import type { Sender, SenderOptions } from '../../../../src/webhooks/sending/send-message.ts';
import { type Certificate, makeCertificate } from '../../../support/doubles/certificate.ts';
import { type Receiver, startReceiver } from '../../../support/doubles/receiver.ts';
import { MESSAGE, openTestSender, ranges, targetAt } from './webhooks-sending-fixture.ts';

const ALLOWED = ranges('127.0.0.1/32');
const NO_PUBLIC_ADDRESS =
  'the host of the receiver has no address, or has a non-public address outside WEBHOOK_ALLOWED_RANGES';

let receiver: Receiver;
let sender: Sender | undefined;

beforeEach(async () => {
  receiver = await startReceiver();
});

afterEach(async () => {
  sender?.close();
  await receiver.close();
});

function sendTo(url: string, options: Partial<SenderOptions>) {
  sender ??= openTestSender(options);
  return sender.send(targetAt(url), MESSAGE);
}

afterEach(() => {
  sender = undefined;
});

const named = () => `http://receiver.test:${receiver.port}/`;

function failing(code: string): () => Promise<never> {
  return () => Promise.reject(Object.assign(new Error(code), { code }));
}

describe('webhook sending: connects to public addresses only (R-I4)', () => {
  test('refuses an internal address in the URL', async () => {
    const outcome = await sendTo(receiver.url, { allowedRanges: [] });
    expect(outcome).toMatchObject({
      state: 'Failed',
      error: 'the URL of the receiver must have a public address as its host',
    });
    expect(receiver.connections()).toBe(0);
  });

  test('refuses http when the operator has not allowed http', async () => {
    const outcome = await sendTo(receiver.url, { allowHttp: false });
    expect(outcome.error).toBe('the URL of the receiver must begin with https://, got http:');
    expect(receiver.connections()).toBe(0);
  });

  test('refuses a name that resolves to an internal address', async () => {
    const outcome = await sendTo(named(), { allowedRanges: [], resolve: async () => ['127.0.0.1'] });
    expect(outcome).toMatchObject({ state: 'Failed', error: NO_PUBLIC_ADDRESS });
    expect(JSON.stringify(outcome)).not.toContain('127.0.0.1');
    expect(receiver.connections()).toBe(0);
  });

  test('refuses a name that resolves to several addresses, one of them internal', async () => {
    const resolve = async () => ['127.0.0.1', '127.0.0.2'];
    expect(await sendTo(named(), { allowedRanges: ALLOWED, resolve })).toMatchObject({ error: NO_PUBLIC_ADDRESS });
    expect(receiver.connections()).toBe(0);
  });

  test('resolves the name for each connection and refuses a name that now resolves to an internal address (DNS rebinding)', async () => {
    receiver.answerWith((_request, response) => {
      response.writeHead(200, { connection: 'close' }).end();
    });
    const answers = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1']];
    let asked = 0;
    const options = { allowedRanges: ALLOWED, resolve: async () => answers[asked++] ?? [] };
    expect(await sendTo(named(), options)).toMatchObject({ state: 'Succeeded' });
    expect(asked).toBe(1);
    expect(await sendTo(named(), options)).toMatchObject({ error: NO_PUBLIC_ADDRESS });
    expect(await sendTo(named(), options)).toMatchObject({ state: 'Succeeded' });
    expect(receiver.connections()).toBe(2);
  });

  test.each([
    ['a name that resolves to an invalid address', async () => ['no address']],
    ['a name that resolves to an empty list', async () => []],
    ['a name that does not exist', failing('ENOTFOUND')],
    ['a name without addresses', failing('ENODATA')],
  ])('reports the same error for %s as for an internal address', async (_what, resolve) => {
    expect((await sendTo(named(), { resolve })).error).toBe(NO_PUBLIC_ADDRESS);
  });

  test('reports a name server that fails', async () => {
    expect((await sendTo(named(), { resolve: failing('ESERVFAIL') })).error).toBe(
      'the host name of the receiver could not be resolved',
    );
  });
});

test('webhook sending: the Host header has the host name from the URL, not the address of the receiver (R-I3)', async () => {
  expect(await sendTo(named(), { resolve: async () => ['127.0.0.1'] })).toMatchObject({ state: 'Succeeded' });
  expect(receiver.messages[0]?.headers.host).toBe(`receiver.test:${receiver.port}`);
});

test('webhook sending: a subdomain of localhost resolves to the loopback addresses; a receiver at localhost gets messages when the operator allows these addresses (R-I4)', async () => {
  expect(await nameResolver()('some.localhost')).toEqual(['127.0.0.1', '::1']);
  const url = `http://localhost:${receiver.port}/`;
  expect(await sendTo(url, { allowedRanges: ranges('127.0.0.0/8', '::1') })).toMatchObject({ state: 'Succeeded' });
});

describe('webhook sending: TLS verification (R-I4)', () => {
  let certificate: Certificate;
  let server: Server;

  async function serve(made: Certificate): Promise<string> {
    certificate = made;
    server = createServer(made, (_request, response) => response.end('secure'));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return `https://receiver.test:${(server.address() as AddressInfo).port}/`;
  }

  afterEach(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );

  const options = { allowHttp: false, resolve: async () => ['127.0.0.1'] };

  test('accepts a certificate issued by a trusted authority', async () => {
    const url = await serve(makeCertificate('receiver.test'));
    for (let count = 0; count < 2; count++) {
      expect(await sendTo(url, { ...options, ca: certificate.cert })).toMatchObject({
        state: 'Succeeded',
        response: { body: 'secure' },
      });
    }
  });

  test('refuses a self-signed certificate', async () => {
    const outcome = await sendTo(await serve(makeCertificate('receiver.test')), options);
    expect(outcome.error).toBe('the certificate of the receiver is self-signed');
  });

  test('refuses a self-signed certificate even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const outcome = await sendTo(await serve(makeCertificate('receiver.test')), options);
    vi.unstubAllEnvs();
    expect(outcome.error).toBe('the certificate of the receiver is self-signed');
  });

  test('refuses a certificate for another host name', async () => {
    const url = await serve(makeCertificate('another.test'));
    const outcome = await sendTo(url, { ...options, ca: certificate.cert });
    expect(outcome.error).toBe('the certificate of the receiver is for another host name');
  });

  test('refuses an expired certificate', async () => {
    const url = await serve(makeCertificate('receiver.test', new Date(Date.now() - 86_400_000)));
    const outcome = await sendTo(url, { ...options, ca: certificate.cert });
    expect(outcome.error).toBe('the certificate of the receiver or of its authority has expired');
  });

  test('refuses a receiver without TLS', async () => {
    await serve(makeCertificate('receiver.test'));
    const outcome = await sendTo(`https://receiver.test:${receiver.port}/`, options);
    expect(outcome.error).toBe('no TLS connection could be established with the receiver');
  });
});
