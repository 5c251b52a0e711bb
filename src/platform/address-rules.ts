/**
 * Parses IP addresses and CIDR ranges, and decides which addresses are public by the IANA special-purpose registers.
 * Webhooks connect to public addresses and to ranges the operator allows (R-I4); rate limits count by network (R-B15).
 * Text that is not an address is not public. The parser is our own because `net.BlockList` ignores zone ids and does not
 * return bytes.
 */

export interface AddressRange {
  /** 4 or 16. */
  readonly bytes: readonly number[];
  /** Number of leading bits that must match. */
  readonly prefix: number;
}

const V4_BYTES = 4;
const V6_BYTES = 16;

/** @returns 4 or 16 bytes; undefined for text that is not an address, or has a zone id. */
export function parseAddress(text: string): readonly number[] | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

/** Parses `10.0.0.0/8` or `fd00::/8`; an address alone is a range of one. @returns undefined for other text. */
export function parseRange(text: string): AddressRange | undefined {
  const [address = '', prefix, ...rest] = text.split('/');
  const bytes = parseAddress(address);
  if (!bytes || rest.length > 0) return undefined;
  const bits = bytes.length * 8;
  if (prefix === undefined) return { bytes, prefix: bits };
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits ? { bytes, prefix: Number(prefix) } : undefined;
}

/** Whether a webhook may connect to the address. */
export function isAllowedAddress(text: string, allowedRanges: readonly AddressRange[]): boolean {
  const address = parseAddress(text);
  if (!address) return false;
  const plain = withoutMapping(address);
  return isPublic(plain) || allowedRanges.some((range) => isWithin(range, plain));
}

/** Whether the address belongs to the public internet. */
export function isPublicAddress(text: string): boolean {
  return isAllowedAddress(text, []);
}

/**
 * The network that one client controls: an IPv4 address itself, without its IPv6 mapping; the /64 network of an IPv6
 * address. Text that is not an address is returned unchanged.
 * @param text may have the port or the zone id that proxies add.
 */
export function networkOf(text: string): string {
  const bare = BRACKETS.exec(text)?.[1] ?? IPV4_PORT.exec(text)?.[1] ?? text;
  const address = parseAddress(bare.replace(/%.*$/, ''));
  if (!address) return bare;
  const plain = withoutMapping(address);
  if (plain.length === V4_BYTES) return plain.join('.');
  const groups = [0, 2, 4, 6].map((index) => ((plain[index] ?? 0) * 256 + (plain[index + 1] ?? 0)).toString(16));
  return `${groups.join(':')}::/64`;
}

const IPV4_PORT = /^((?:\d{1,3}\.){3}\d{1,3}):\d+$/;
const BRACKETS = /^\[([^\]]*)\](?::\d+)?$/;

function parseIpv4(text: string): readonly number[] | undefined {
  const parts = text.split('.');
  const isWellFormed = parts.length === V4_BYTES && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part));
  const bytes = parts.map(Number);
  return isWellFormed && bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

function parseIpv6(text: string): readonly number[] | undefined {
  const [front = '', back, ...rest] = text.split('::');
  if (rest.length > 0) return undefined;
  const head = parseGroups(front, back === undefined);
  if (back === undefined) return head?.length === V6_BYTES ? head : undefined;
  const tail = parseGroups(back, true);
  if (!head || !tail) return undefined;
  const missing = V6_BYTES - head.length - tail.length;
  return missing >= 2 ? [...head, ...new Array<number>(missing).fill(0), ...tail] : undefined;
}

/** @param isEnd only there the last two groups may be written as an IPv4 address. */
function parseGroups(text: string, isEnd: boolean): readonly number[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const bytes: number[] = [];
  for (const [index, part] of parts.entries()) {
    const group = isEnd && index === parts.length - 1 && part.includes('.') ? parseIpv4(part) : parseGroup(part);
    if (!group) return undefined;
    bytes.push(...group);
  }
  return bytes;
}

function parseGroup(text: string): readonly number[] | undefined {
  if (!/^[0-9a-f]{1,4}$/i.test(text)) return undefined;
  const value = Number.parseInt(text, 16);
  return [value >> 8, value & 255];
}

function range(text: string): AddressRange {
  const parsed = parseRange(text);
  if (!parsed) throw new TypeError(`${text} is not a CIDR range`);
  return parsed;
}

const NOT_PUBLIC_V4 = [
  '0.0.0.0/8', // this network, unspecified
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; metadata of some clouds
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's platform services, although public
  '169.254.0.0/16', // link-local; metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // relays of 6to4
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
].map(range);

// Everything else is special: loopback, unique local, link-local, multicast, and those with an IPv4 address inside.
const GLOBAL_V6 = range('2000::/3');
const NOT_PUBLIC_V6 = [
  '2001::/23', // protocol assignments, Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
].map(range);

const MAPPED = range('::ffff:0:0/96');
const NAT64 = range('64:ff9b::/96');

function isPublic(address: readonly number[]): boolean {
  if (address.length === V4_BYTES) return !NOT_PUBLIC_V4.some((special) => isWithin(special, address));
  if (isWithin(NAT64, address)) return isPublic(address.slice(-V4_BYTES));
  return isWithin(GLOBAL_V6, address) && !NOT_PUBLIC_V6.some((special) => isWithin(special, address));
}

/** The IPv4 address in an IPv4-mapped one, which dual-stack sockets report. */
function withoutMapping(address: readonly number[]): readonly number[] {
  return isWithin(MAPPED, address) ? address.slice(-V4_BYTES) : address;
}

function isWithin({ bytes, prefix }: AddressRange, address: readonly number[]): boolean {
  if (bytes.length !== address.length) return false;
  return bytes.every((byte, index) => {
    const bits = Math.min(Math.max(prefix - index * 8, 0), 8);
    return byte >> (8 - bits) === (address[index] ?? 0) >> (8 - bits);
  });
}
