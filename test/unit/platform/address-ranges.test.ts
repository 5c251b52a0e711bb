/** Rules for the addresses of webhook receivers: public addresses, and ranges that the operator allows (R-I4). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAllowedAddress, isPublicAddress, parseRange } from '../../../src/platform/address-ranges.ts';

const NOT_PUBLIC: readonly (readonly [kind: string, ...addresses: string[]])[] = [
  ['unspecified', '0.0.0.0', '0.1.2.3', '::'],
  ['loopback', '127.0.0.1', '127.255.255.254', '::1'],
  ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ['link-local', '169.254.0.1', 'fe80::1', 'febf::1', 'fec0::1'],
  ['metadata', '169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16'],
  ['behind the NAT of a carrier', '100.64.0.1', '100.127.255.255'],
  ['unique local', 'fc00::1', 'fdff:ffff::1'],
  ['multicast', '224.0.0.1', '239.255.255.255', 'ff02::1'],
  ['broadcast and reserved', '255.255.255.255', '240.0.0.1'],
  ['documentation', '192.0.2.1', '198.51.100.7', '203.0.113.9', '2001:db8::1', '3fff::1'],
  ['benchmarking', '198.18.0.1', '198.19.255.255', '2001:2::1'],
  ['protocol assignments', '192.0.0.1', '192.88.99.1', '2001::1', '100::1', '5f00::1'],
  ['IPv4-mapped', '::ffff:127.0.0.1', '::ffff:a00:1', '::ffff:169.254.169.254'],
  ['IPv4-compatible', '::127.0.0.1', '::a9fe:a9fe', '::8.8.8.8'],
  ['translated', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b:1::1'],
  ['6to4', '2002:7f00:1::', '2002:a00:1::1'],
  ['Teredo', '2001:0:7f00:1::', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  [
    'text that is not an address in plain form',
    '',
    'localhost',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '256.1.1.1',
    '2130706433',
    '0x7f.0.0.1',
    '::1%eth0',
  ],
  ['malformed IPv6', ':::', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '12345::', '1.2.3.4::', '::1.2.3'],
];

describe('webhook addresses: special-purpose addresses and malformed texts are not public (R-I4)', () => {
  test.each(NOT_PUBLIC)('%s', (_kind, ...addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([]);
  });
});

test('webhook addresses: addresses outside the special-purpose ranges are public, also when written as IPv4-mapped or NAT64 addresses (R-I4)', () => {
  const addresses = ['1.1.1.1', '8.8.8.8', '9.255.255.255', '100.63.255.255', '172.32.0.1', '223.255.255.255'];
  const others = ['2606:4700:4700::1111', '2a00:1450:4001::200e', '::ffff:8.8.8.8', '64:ff9b::808:808'];
  expect([...addresses, ...others].filter((address) => !isPublicAddress(address))).toEqual([]);
});

describe('webhook addresses: ranges allowed by the operator (R-I4)', () => {
  const allowed = ['127.0.0.0/8', 'fd12::/16', '10.1.2.3'].map((text) => {
    const range = parseRange(text);
    if (!range) throw new Error(text);
    return range;
  });

  test.each(['127.0.0.1', '127.9.9.9', '::ffff:127.0.0.1', 'fd12::5', '10.1.2.3', '8.8.8.8'])(
    '%s is allowed with the ranges 127.0.0.0/8, fd12::/16 and 10.1.2.3',
    (address) => {
      expect(isAllowedAddress(address, allowed)).toBe(true);
    },
  );

  test.each(['10.1.2.4', '192.168.0.1', 'fd13::1', '::1', '64:ff9b::7f00:1'])(
    'when 127.0.0.0/8, fd12::/16 and 10.1.2.3 are allowed, %s is refused',
    (address) => expect(isAllowedAddress(address, allowed)).toBe(false),
  );

  test.each(['', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0/8', '10.0.0.0/8/8', '10.0.0.0/-1', 'loopback'])(
    '%j is refused as a range',
    (text) => expect(parseRange(text)).toBeUndefined(),
  );
});

/**
 * @returns the bits of an address, computed from its eight groups or four bytes. This implementation shares no code
 * with the product.
 */
function bitsOf(address: string): string {
  const [groups, radix, width] = address.includes(':') ? [expand(address), 16, 16] : [address.split('.'), 10, 8];
  return groups.map((group) => Number.parseInt(group, radix).toString(2).padStart(width, '0')).join('');
}

/** @returns the address that differs from `address` only in the bit at the index `bit`. */
function flipBit(address: string, bit: number): string {
  const bits = bitsOf(address);
  const flipped = bits.slice(0, bit) + (bits[bit] === '0' ? '1' : '0') + bits.slice(bit + 1);
  const [width, radix, separator] = bits.length === 32 ? [8, 10, '.'] : [16, 16, ':'];
  const parts = flipped.match(new RegExp(`.{${width}}`, 'g')) ?? [];
  return parts.map((part) => Number.parseInt(part, 2).toString(radix)).join(separator);
}

function expand(address: string): readonly string[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const [, front = '', ...bytes] = dotted ?? [];
  const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number);
  const plain = dotted ? `${front}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}` : address;
  const [head = '', tail] = plain.split('::');
  const halves = [head, tail ?? ''].map((half) => (half === '' ? [] : half.split(':')));
  const missing = 8 - halves.flat().length;
  return [...(halves[0] ?? []), ...new Array<string>(missing).fill('0'), ...(halves[1] ?? [])];
}

test.each([
  ['IPv4', fc.ipV4(), 32],
  ['IPv6', fc.ipV6(), 128],
] as const)(
  'webhook addresses: an allowed %s range admits an internal address if and only if the address begins with the prefix bits of the range (R-I4)',
  (_kind, any, max) => {
    fc.assert(
      fc.property(any, any, fc.integer({ min: 0, max }), fc.option(fc.nat(max - 1)), (base, drawn, prefix, bit) => {
        const range = parseRange(`${base}/${prefix}`);
        // An address that differs from the base in one bit is in the range if and only if this bit is after the prefix.
        const other = bit === null ? drawn : flipBit(base, bit);
        fc.pre(!isPublicAddress(other));
        const isInside = bitsOf(base).slice(0, prefix) === bitsOf(other).slice(0, prefix);
        expect(isAllowedAddress(other, range ? [range] : [])).toBe(isInside);
      }),
      { numRuns: 1000 },
    );
  },
);

test('webhook addresses: an IPv4 address, its mapping into IPv6 and its NAT64 form are either all public or all internal (R-I4)', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const isPublic = isPublicAddress(address);
      expect([isPublicAddress(`::ffff:${address}`), isPublicAddress(`64:ff9b::${address}`)]).toEqual([
        isPublic,
        isPublic,
      ]);
    }),
    { numRuns: 1000 },
  );
});
