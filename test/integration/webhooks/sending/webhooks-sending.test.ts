/**
 * Sending one message: the request that a receiver gets, and the outcome that follows from its answer (R-I3). The
 * receivers are real HTTP servers on loopback.
 */
import { gzipSync } from 'node:zlib';
import { Webhook as Verifier } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isStorableJson } from '../../../../src/platform/database/storable-text.ts';
import type { Sender } from '../../../../src/webhooks/sending/send-message.ts';
import type { WebhookTarget } from '../../../../src/webhooks/webhook.ts';
import { type Receiver, startReceiver } from '../../../support/doubles/receiver.ts';
import { MESSAGE, openTestSender, SECRET, targetAt } from './webhooks-sending-fixture.ts';

const FORMER_SECRET = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;

let receiver: Receiver;
let sender: Sender;

beforeEach(async () => {
  receiver = await startReceiver();
  sender = openTestSender();
});

afterEach(async () => {
  sender.close();
  await receiver.close();
});

const send = (fields: Partial<WebhookTarget> = {}) =>
  sender.send(targetAt(`${receiver.url}/hook?a=1`, fields), MESSAGE);

describe('webhook sending: the request to a receiver', () => {
  test('is signed as Standard Webhooks specifies, with every valid secret (R-I3)', async () => {
    await send({ secrets: [SECRET, FORMER_SECRET] });
    const [message] = receiver.messages;
    const headers = message?.headers as Record<string, string>;
    const { type, timestamp, accountId, data } = MESSAGE;
    for (const secret of [SECRET, FORMER_SECRET]) {
      expect(new Verifier(secret).verify(message?.body ?? '', headers)).toEqual({ type, timestamp, accountId, data });
    }
    expect(() => new Verifier(OTHER_SECRET).verify(message?.body ?? '', headers)).toThrow();
    expect(headers['webhook-id']).toBe(MESSAGE.id);
    expect(headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
  });

  test('carries the time of the attempt, not of the event, in the header `webhook-timestamp` (R-I3)', async () => {
    sender.close();
    sender = openTestSender({ clock: { nowMillis: () => 1_772_370_000_999 } });
    await send();
    expect(receiver.messages[0]?.headers['webhook-timestamp']).toBe('1772370000');
  });

  test('has the method and headers of the webhook; these headers cannot replace reserved headers such as Webhook-Id (R-I1, R-I3)', async () => {
    const own = {
      'Content-Type': 'text/plain',
      'X-Mine': '1',
      'Webhook-Id': 'forged',
      'User-Agent': 'forged',
      Host: 'x',
    };
    await send({ httpMethod: 'PUT', headers: own, bodyTemplate: 'Site {{data.siteId}} of {{accountId}}' });
    expect(receiver.messages).toMatchObject([
      {
        method: 'PUT',
        path: '/hook?a=1',
        body: 'Site 3 of 7',
        headers: {
          'content-type': 'text/plain',
          'content-length': '11',
          'x-mine': '1',
          'webhook-id': MESSAGE.id,
          'user-agent': expect.stringContaining('Tidemark'),
          'accept-encoding': 'identity',
          host: `127.0.0.1:${receiver.port}`,
        },
      },
    ]);
  });

  test('has the content type application/json by default, and a signature over the body rendered from the template (R-I1, R-I3)', async () => {
    await send({ bodyTemplate: '{"text": "New: {{data.name}}"}' });
    const [message] = receiver.messages;
    expect(message?.headers['content-type']).toBe('application/json');
    const verified = new Verifier(SECRET).verify(message?.body ?? '', message?.headers as Record<string, string>);
    expect(verified).toEqual({ text: 'New: Büro \u0000 "A"' });
  });

  test('is not sent when the rendered body exceeds 1 MiB (R-I1)', async () => {
    const large = { ...MESSAGE, data: 'x'.repeat(600_000) };
    const target = targetAt(receiver.url, { bodyTemplate: '["{{data}}","{{data}}"]' });
    expect(await sender.send(target, large)).toMatchObject({
      state: 'Failed',
      error: "the body rendered from bodyTemplate exceeds 1 MiB and was not sent; insert less of the event's data",
      isTooLarge: true,
    });
    expect(receiver.connections()).toBe(0);
  });

  test('reuses the connection of the previous message (R-I3)', async () => {
    for (let count = 0; count < 10; count++) await send();
    expect(receiver.messages).toHaveLength(10);
    expect(receiver.connections()).toBe(1);
  });
});

describe('webhook sending: the outcome of an attempt', () => {
  test('is Succeeded for status 202, contains the response, and contains the request with masked credentials (R-I3, R-I5)', async () => {
    receiver.answerWith((_request, response) => {
      response.writeHead(202, { 'x-answer': 'yes', 'set-cookie': ['a=1', 'b=2'] }).end('taken');
    });
    const outcome = await send({ headers: { authorization: 'Bearer abc', 'x-mine': '1' } });
    const [message] = receiver.messages;
    expect(message?.headers.authorization).toBe('Bearer abc');
    expect(outcome).toEqual({
      state: 'Succeeded',
      request: {
        method: 'POST',
        url: `${receiver.url}/hook?a=1`,
        body: message?.body,
        headers: expect.objectContaining({
          authorization: '***',
          'x-mine': '1',
          'webhook-signature': message?.headers['webhook-signature'],
        }),
      },
      response: {
        status: 202,
        body: 'taken',
        headers: expect.objectContaining({ 'x-answer': 'yes', 'set-cookie': 'a=1, b=2' }),
      },
      durationMs: expect.any(Number),
    });
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  });

  test.each([
    [301, 'the receiver answered 301: redirects are not followed'],
    [307, 'the receiver answered 307: redirects are not followed'],
    [400, 'the receiver answered 400'],
    [410, 'the receiver answered 410'],
    [500, 'the receiver answered 500'],
  ])('is Failed after status %i, with the error "%s" (R-I3)', async (status, error) => {
    receiver.answerWith((_request, response) => {
      response.writeHead(status, { location: `${receiver.url}/elsewhere` }).end();
    });
    expect(await send()).toMatchObject({ state: 'Failed', response: { status }, error });
    expect(receiver.messages.map(({ path }) => path)).toEqual(['/hook?a=1']);
  });

  test('includes the delay from the header `Retry-After`, in seconds or as a date (R-I3)', async () => {
    receiver.answerWith((_request, response) => {
      response.writeHead(429, { 'retry-after': '7' }).end();
    });
    expect(await send()).toMatchObject({ state: 'Failed', retryAfterMs: 7000 });
    receiver.answerWith((_request, response) => {
      response.writeHead(503, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() }).end();
    });
    const { retryAfterMs = 0 } = await send();
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  test('keeps at most 4 KiB of the response body, without a partial character at the end (R-I5)', async () => {
    receiver.answerWith((_request, response) => {
      response.end(`x${'é'.repeat(5000)}`);
    });
    expect((await send()).response?.body).toBe(`x${'é'.repeat(2047)}`);
  });

  test('keeps the start of a compressed response body without decompressing it, converted to text that the database can store (R-I5)', async () => {
    const bomb = gzipSync(Buffer.alloc(50 << 20));
    receiver.answerWith((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'x-latin': 'caf\u00e9' }).end(bomb);
    });
    const outcome = await send();
    expect(outcome).toMatchObject({ state: 'Succeeded', response: { headers: { 'content-encoding': 'gzip' } } });
    expect(outcome.response?.body.startsWith('\u001f\uFFFD')).toBe(true);
    expect(outcome.response?.body.length).toBeLessThanOrEqual(4096);
    expect(isStorableJson(outcome)).toBe(true);
  });
});
