/** Rules for URLs of receivers, for headers of webhooks and for Retry-After of responses (R-I1, R-I3, R-I4, R-I5). */
import { describe, expect, test } from 'vitest';
import { parseRange } from '../../../src/platform/address-ranges.ts';
import { maskCredentials, mergeHeaders, parseRetryAfter } from '../../../src/webhooks/sending/message-headers.ts';
import { parseTargetUrl } from '../../../src/webhooks/sending/target-url.ts';

const STRICT = { allowHttp: false, allowedRanges: [] };

function problemOf(text: string, policy: Parameters<typeof parseTargetUrl>[1] = STRICT): string | undefined {
  const parsed = parseTargetUrl(text, policy);
  return parsed.kind === 'refused' ? parsed.problem : undefined;
}

test.each([
  'https://example.com/hook?a=1',
  'https://example.com:8443/',
  'HTTPS://EXAMPLE.com',
  'https://8.8.8.8/',
  'https://[2606:4700:4700::1111]/hook',
  'https://bücher.example/',
])('webhook URL: %s is accepted (R-I4)', (text) => expect(problemOf(text)).toBeUndefined());

test.each([
  ['an empty text', '', 'must be a URL such as https://receiver.example/path'],
  ['a text without a scheme', 'example.com/hook', 'must be a URL such as https://receiver.example/path'],
  ['a URL with the scheme http', 'http://example.com/', 'must begin with https://, got http:'],
  ['a URL with the scheme file', 'file:///etc/passwd', 'must begin with https://, got file:'],
  [
    'a URL with a user and a password',
    'https://user:password@example.com/',
    'must not have a user name or password; send these in a header',
  ],
  ['a URL with a user', 'https://user@example.com/', 'must not have a user name or password; send these in a header'],
  ['a URL with a fragment', 'https://example.com/#x', 'must not have a fragment (#…)'],
  ['a URL with an empty fragment', 'https://example.com/#', 'must not have a fragment (#…)'],
  ['a URL with a line break', 'https://exam\nple.com/', 'must not have blanks, control characters or backslashes'],
  [
    'a URL with a backslash',
    'https://example.com\\@127.0.0.1/',
    'must not have blanks, control characters or backslashes',
  ],
  ['a URL with port 0', 'https://example.com:0/', 'must have a port from 1 to 65535'],
  [
    'a URL of 2068 characters',
    `https://example.com/${'x'.repeat(2048)}`,
    'must have at most 2048 characters, got 2068',
  ],
])('webhook URL: %s is refused (R-I4)', (_what, text, problem) => expect(problemOf(text)).toBe(problem));

test.each([
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0177.0.0.1/',
  'https://127.0.0.1./',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://169.254.169.254/latest/meta-data',
  'https://0/',
  'https://①②⑦.0.0.1/',
  'https://10。0。0。1/',
])('webhook URL: %s is refused, because its host is not a public address (R-I4)', (text) => {
  expect(problemOf(text)).toBe('must have a public address as its host');
});

test('webhook URL: http and internal addresses are accepted only when the operator allows them (R-I4)', () => {
  const range = parseRange('127.0.0.0/8');
  const policy = { allowHttp: true, allowedRanges: range ? [range] : [] };
  expect(problemOf('http://127.0.0.1:8080/', policy)).toBeUndefined();
  expect(problemOf('ftp://127.0.0.1/', policy)).toBe('must begin with https:// or http://, got ftp:');
  expect(problemOf('http://10.0.0.1/', policy)).toBe('must have a public address as its host');
});

describe('webhooks: headers', () => {
  test('headers of a webhook do not replace headers of the service; forbidden and invalid headers are not sent (R-I3)', () => {
    const own = {
      'Webhook-Id': 'forged',
      HOST: 'inside',
      'X-Mine': '1',
      'x-bad': 'a\r\nb',
      authorization: 'Bearer abc',
    };
    const ours = { 'webhook-id': 'true', 'user-agent': 'Tidemark' };
    const sent = mergeHeaders(own, ours);
    expect(sent).toEqual({ 'x-mine': '1', authorization: 'Bearer abc', ...ours });
    expect(maskCredentials(sent, ours)).toEqual({ ...sent, authorization: '***' });
  });

  test.each(['Authorization', 'X-Api-Key', 'apikey', 'key', 'cookie', 'x-auth', 'x-token', 'X-Password'])(
    'the history masks the value of the header %s (R-I5)',
    (name) => expect(maskCredentials({ [name]: 'value' }, {})).toEqual({ [name]: '***' }),
  );

  test('the history shows the values of headers that hold no credentials (R-I5)', () => {
    const sent = { 'content-type': 'application/json', 'x-environment': 'test', 'x-monkey': 'banana' };
    expect(maskCredentials(sent, {})).toEqual(sent);
  });
});

describe('webhooks: response header Retry-After (R-I3)', () => {
  const now = Date.UTC(2026, 2, 1, 12);

  test.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['9999999999', 86_400_000],
    ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['Sunday, 01-Mar-26 12:00:30 GMT', 30_000],
    ['Sun Mar  1 12:00:30 2026', 30_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['Sun, 01 Mar 2036 12:00:00 GMT', 86_400_000],
    ['2026', 2_026_000],
  ])('%j, received on 2026-03-01 at 12:00 UTC, means a delay of %s ms', (text, expected) =>
    expect(parseRetryAfter(text, now)).toBe(expected),
  );

  test.each(['soon', '-5', '1.5', '', '2026-03-01'])('for the invalid value %j, the delay is undefined', (text) => {
    expect(parseRetryAfter(text, now)).toBeUndefined();
  });

  test('without the header, the delay is undefined', () => expect(parseRetryAfter(undefined, now)).toBeUndefined());
});
