/** Decides which URLs receivers may have (R-I4). connect-guarded.ts checks the addresses behind a host name. */
import { isIP } from 'node:net';
import { type AddressRange, isAllowedAddress } from '../../platform/address-ranges.ts';

export interface TargetPolicy {
  readonly allowHttp: boolean;
  /** Address ranges that receivers may use besides public addresses. */
  readonly allowedRanges: readonly AddressRange[];
}

export type TargetUrl =
  | { readonly kind: 'url'; readonly url: URL }
  /** `problem` is the rule that was broken, such as `must …`. Errors show it after the path of the field. */
  | { readonly kind: 'refused'; readonly problem: string };

export const MAX_URL_LENGTH = 2048;

const NOT_PUBLIC = 'must have a public address as its host';

/**
 * Parses and checks the URL of a receiver (R-I4). A numeric host such as `0x7f.1` or `2130706433` is checked as the IP
 * address that it denotes.
 */
export function parseTargetUrl(text: string, policy: TargetPolicy): TargetUrl {
  const url = URL.parse(text);
  const problem =
    findTextProblem(text) ??
    (url ? findUrlProblem(url, policy) : 'must be a URL such as https://receiver.example/path');
  return url && problem === undefined ? { kind: 'url', url } : { kind: 'refused', problem: problem ?? '' };
}

/** @returns the host of a URL: a name, or an IP address without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Whether the host is an IP address, not a name. */
export function isAddressHost(host: string): boolean {
  return isIP(host) !== 0;
}

function findTextProblem(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters, got ${text.length}`;
  // The URL parser would drop or rewrite these characters. The service would then call a URL other than the one in the
  // text.
  if (/[\s\p{Cc}\\]/u.test(text)) return 'must not have blanks, control characters or backslashes';
  return text.includes('#') ? 'must not have a fragment (#…)' : undefined;
}

function findUrlProblem(url: URL, { allowHttp, allowedRanges }: TargetPolicy): string | undefined {
  const isProtocolAllowed = url.protocol === 'https:' || (allowHttp && url.protocol === 'http:');
  if (!isProtocolAllowed) return `must begin with https://${allowHttp ? ' or http://' : ''}, got ${url.protocol}`;
  if (url.username !== '' || url.password !== '')
    return 'must not have a user name or password; send these in a header';
  if (url.port === '0') return 'must have a port from 1 to 65535';
  const host = hostOf(url);
  return isAddressHost(host) && !isAllowedAddress(host, allowedRanges) ? NOT_PUBLIC : undefined;
}
