/** Tests webhook sending when a hostile or failing name server resolves the receiver's host name (R-I4). */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nameResolver } from '../../../../src/webhooks/sending/connect-guarded.ts';
import type { Sender } from '../../../../src/webhooks/sending/send-message.ts';
import { type NameAnswer, type NameServer, startNameServer } from '../../../support/doubles/name-server.ts';
import { type Receiver, startReceiver } from '../../../support/doubles/receiver.ts';
import { MESSAGE, openTestSender, ranges, targetAt } from './webhooks-sending-fixture.ts';

const NO_PUBLIC_ADDRESS =
  'the host of the receiver has no address, or has a non-public address outside WEBHOOK_ALLOWED_RANGES';

let answers: readonly NameAnswer[];
let names: NameServer;
let receiver: Receiver;
let sender: Sender;

beforeEach(async () => {
  names = await startNameServer(
    () => answers[Math.max(Math.min(names.asked.length, answers.length) - 1, 0)] ?? 'failure',
  );
  receiver = await startReceiver();
  receiver.answerWith((_request, response) => {
    response.writeHead(200, { connection: 'close' }).end();
  });
  // 127.0.0.1 stands for the public internet. All other loopback addresses stand for the internal network.
  const allowedRanges = ranges('127.0.0.1/32');
  sender = openTestSender({ allowedRanges, timeoutMs: 4000, resolve: nameResolver([names.server]) });
});
afterEach(async () => {
  sender.close();
  await Promise.all([receiver.close(), names.close()]);
});

async function sendTo(...given: readonly NameAnswer[]): Promise<string> {
  answers = given;
  const { state, error } = await sender.send(targetAt(`http://receiver.test:${receiver.port}/`), MESSAGE);
  return error ?? state;
}

test('webhook sending: a connection resolves the host name once (R-I4)', async () => {
  expect(await sendTo(['127.0.0.1'])).toBe('Succeeded');
  expect(names.asked).toEqual(['receiver.test']);
});

test('webhook sending: follows CNAME records to a public address, but not to an internal address (R-I4)', async () => {
  expect(await sendTo(['other.test', '127.0.0.1'])).toBe('Succeeded');
  sender.close();
  expect(await sendTo(['inside.test', '127.0.0.2'], ['inside.test', '127.0.0.2'])).toBe(NO_PUBLIC_ADDRESS);
});

test('webhook sending: a name server that changes its answer cannot redirect a connection to the internal network (R-I4)', async () => {
  expect(await sendTo(['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1'])).toBe('Succeeded');
  expect(await sendTo(['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1'])).toBe(NO_PUBLIC_ADDRESS);
  expect(await sendTo(['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1'])).toBe('Succeeded');
  expect(receiver.connections()).toBe(2);
});

test.each([
  ['an internal address', ['127.0.0.2']],
  ['a public and an internal address', ['127.0.0.1', '10.0.0.1']],
  ['a public IPv4 address and an internal IPv6 address', ['127.0.0.1', 'fd00:0:0:0:0:0:0:1']],
  ['an internal IPv4 address written as IPv6', ['0:0:0:0:0:ffff:0a00:0001']],
  ['nothing', []],
  ['the error that the name does not exist', 'no such name'],
] as const)(
  'webhook sending: opens no connection when a name server answers with %s, and reports the same error for all of these answers (R-I4)',
  async (_what, answer) => {
    expect(await sendTo(answer)).toBe(NO_PUBLIC_ADDRESS);
    expect(receiver.connections()).toBe(0);
  },
);

test('webhook sending: a failing name server is reported as an unresolved host name, not as an error of the receiver (R-I4)', async () => {
  expect(await sendTo('failure')).toBe('the host name of the receiver could not be resolved');
});

test('webhook sending: the time-out of the attempt ends the wait for a silent name server (R-I3)', async () => {
  expect(await sendTo('silence')).toBe('the receiver did not respond within 4 s');
});
