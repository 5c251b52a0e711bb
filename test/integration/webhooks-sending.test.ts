/** Sending one message: what receivers see, and what is told of what they do (R-I3). Receivers are real, on loopback. */
import { Webhook as Verifier } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/platform/clock.ts';
import type { Message } from '../../src/webhooks/attempt.ts';
import { parseRange } from '../../src/webhooks/sending/address-rules.ts';
import { openSender, type Sender, type SenderOptions } from '../../src/webhooks/sending/send-message.ts';
import type { WebhookTarget } from '../../src/webhooks/webhook.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

const SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const FORMER_SECRET = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const LOOPBACK = [parseRange('127.0.0.0/8')].filter((range) => range !== undefined);
const MESSAGE: Message = {
  id: '0b1f4a52-6a0a-4e5c-9b7e-1d1e6c3a9d11',
  type: 'SiteCreated',
  timestamp: '2026-03-01T12:00:00Z',
  accountId: 7,
  data: { siteId: 3, name: 'Büro \u0000 "A"' },
};

let receiver: Receiver;
let sender: Sender;

beforeEach(async () => {
  receiver = await startReceiver();
  sender = open();
});

afterEach(async () => {
  sender.close();
  await receiver.close();
});

function open(options: Partial<SenderOptions> = {}): Sender {
  return openSender({ allowHttp: true, allowedRanges: LOOPBACK, timeoutMs: 5000, clock: systemClock, ...options });
}

function target(fields: Partial<WebhookTarget> = {}): WebhookTarget {
  return {
    url: `${receiver.url}/hook?a=1`,
    httpMethod: 'POST',
    headers: {},
    bodyTemplate: null,
    secrets: [SECRET],
    ...fields,
  };
}

describe('what a receiver gets', () => {
  test('is signed as Standard Webhooks says, with every secret that is valid (R-I3)', async () => {
    const outcome = await sender.send(target({ secrets: [SECRET, FORMER_SECRET] }), MESSAGE);
    expect(outcome).toMatchObject({ state: 'Succeeded', response: { status: 200, body: 'ok' } });
    const [message] = receiver.messages;
    const headers = message?.headers as Record<string, string>;
    const { type, timestamp, accountId, data } = MESSAGE;
    for (const secret of [SECRET, FORMER_SECRET]) {
      expect(new Verifier(secret).verify(message?.body ?? '', headers)).toEqual({ type, timestamp, accountId, data });
    }
    expect(() =>
      new Verifier(`whsec_${Buffer.alloc(24, 3).toString('base64')}`).verify(message?.body ?? '', headers),
    ).toThrow();
    expect(headers['webhook-id']).toBe(MESSAGE.id);
    expect(headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
  });

  test('says when it was tried, not when it happened (R-I3)', async () => {
    sender.close();
    sender = open({ clock: { nowMillis: () => 1_772_366_400_999 } });
    await sender.send(target(), MESSAGE);
    expect(receiver.messages[0]?.headers['webhook-timestamp']).toBe('1772366400');
  });
});
