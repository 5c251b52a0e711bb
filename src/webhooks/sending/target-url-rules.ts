/** Which addresses of receivers are accepted (R-I4). What a name leads to is looked at when it is connected to. */
import { type AddressRange, isAllowedAddress } from '../../platform/address-rules.ts';

export interface TargetPolicy {
  readonly allowHttp: boolean;
  /** Besides the public internet. */
  readonly allowedRanges: readonly AddressRange[];
}

export type TargetUrl =
  | { readonly kind: 'url'; readonly url: URL }
  /** `problem` goes on after a path: `must be …`. */
  | { readonly kind: 'refused'; readonly problem: string };

export const MAX_URL_LENGTH = 2048;

/** What is told of an address as of a name, whatever is behind it. */
export const NOT_PUBLIC = 'must lead to a public address';

/** Reads the address of a receiver. Odd spellings of numbers (`0x7f.1`, `2130706433`) are what they mean. */
export function parseTargetUrl(text: string, policy: TargetPolicy): TargetUrl {
  const url = URL.parse(text);
  const problem = findTextProblem(text) ?? (url ? findUrlProblem(url, policy) : 'must be an address such as https://…');
  return url && problem === undefined ? { kind: 'url', url } : { kind: 'refused', problem: problem ?? '' };
}

/** Where a URL connects to: a name, or an address without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Whether the host is an address already: then nothing is looked up. */
export function isAddressHost(host: string): boolean {
  return host.includes(':') || /^\d+\.\d+\.\d+\.\d+$/.test(host);
}

function findTextProblem(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  // A URL would drop or turn them, and lead elsewhere than it reads.
  if (/[\s\p{Cc}\\]/u.test(text)) return 'must have no blanks, control characters or backslashes';
  return text.includes('#') ? 'must have no fragment (#…)' : undefined;
}

function findUrlProblem(url: URL, { allowHttp, allowedRanges }: TargetPolicy): string | undefined {
  const isProtocolAllowed = url.protocol === 'https:' || (allowHttp && url.protocol === 'http:');
  if (!isProtocolAllowed) return `must begin with https://${allowHttp ? ' or http://' : ''}, got ${url.protocol}`;
  if (url.username !== '' || url.password !== '') return 'must have no user and password; use a header for them';
  if (url.port === '0') return 'must have a port from 1 to 65535';
  const host = hostOf(url);
  return isAddressHost(host) && !isAllowedAddress(host, allowedRanges) ? NOT_PUBLIC : undefined;
}
