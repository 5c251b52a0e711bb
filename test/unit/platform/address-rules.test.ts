/** Which addresses receivers may have (R-I4). */
import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAllowedAddress, isPublicAddress, parseAddress, parseRange } from '../../../src/platform/address-rules.ts';

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
    'no address',
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
  ['no address either', ':::', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '12345::', '1.2.3.4::', '::1.2.3'],
];

describe('webhook addresses: special-purpose addresses are not public (R-I4)', () => {
  test.each(NOT_PUBLIC)('%s', (_kind, ...addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([]);
  });
});

test('webhook addresses: public addresses are allowed, also IPv4 mapped into IPv6 (R-I4)', () => {
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
    '%s is allowed',
    (address) => {
      expect(isAllowedAddress(address, allowed)).toBe(true);
    },
  );

  test.each(['10.1.2.4', '192.168.0.1', 'fd13::1', '::1', '64:ff9b::7f00:1'])('%s is not allowed', (address) =>
    expect(isAllowedAddress(address, allowed)).toBe(false),
  );

  test.each(['', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0/8', '10.0.0.0/8/8', '10.0.0.0/-1', 'loopback'])(
    '%j is not a range',
    (text) => expect(parseRange(text)).toBeUndefined(),
  );
});

test('webhook addresses: parseAddress accepts exactly what node:net accepts, except zones (R-I4)', () => {
  const text = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.string({ unit: fc.constantFrom('0', '1', '2', 'f', ':', '::', '.', '255'), maxLength: 12 }),
  );
  fc.assert(
    fc.property(text, (candidate) => {
      expect(parseAddress(candidate)?.length ?? 0).toBe(isIP(candidate) === 4 ? 4 : isIP(candidate) === 6 ? 16 : 0);
    }),
    { numRuns: 2000 },
  );
});

test('webhook addresses: a range contains the same addresses as net.BlockList (R-I4)', () => {
  fc.assert(
    fc.property(fc.ipV6(), fc.ipV6(), fc.integer({ min: 0, max: 128 }), (base, other, prefix) => {
      const range = parseRange(`${base}/${prefix}`);
      const list = new BlockList();
      list.addSubnet(base, prefix, 'ipv6');
      fc.pre(range !== undefined && !isPublicAddress(other) && !other.includes('ffff'));
      expect(isAllowedAddress(other, range ? [range] : [])).toBe(list.check(other, 'ipv6'));
    }),
    { numRuns: 1000 },
  );
});
