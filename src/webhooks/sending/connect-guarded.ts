/**
 * Connects to receivers (R-I4), with protection against DNS rebinding: for every new connection, the name is resolved
 * and all its addresses are checked. The socket connects only to a checked address. No byte is sent before the remote
 * address has been checked.
 */
import { Resolver } from 'node:dns/promises';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { type AddressRange, isAllowedAddress } from '../../platform/address-ranges.ts';

/** @returns every address of a name. @throws an error with a code of node:dns. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface ConnectOptions {
  readonly allowedRanges: readonly AddressRange[];
  readonly timeoutMs: number;
  readonly resolve: Resolve;
}

/**
 * The host has no address, or has an address that is not allowed. The error does not say which of the two is true, so
 * that callers cannot find out internal names.
 */
export class NotPublicError extends Error {
  override readonly name = 'NotPublicError';
}

/** The name servers did not answer, or answered with a failure other than an unknown name. */
export class LookupError extends Error {
  override readonly name = 'LookupError';
}

const LOOKUP_TRY_MS = 2000;
const LOOKUP_TRIES = 2;
const ADDRESS_TRY_MS = 1000;
// A socket that has not connected after `timeoutMs` + CLEANUP_MS is destroyed. By then, `exchange` has already reported
// the time-out.
const CLEANUP_MS = 1000;
const LOOPBACK = ['127.0.0.1', '::1'];
const NO_SUCH_NAME: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * Resolves names by querying the name servers. Does not use `dns.lookup`, which runs in libuv's thread pool: a slow
 * name server would block threads that file access also needs.
 * @param servers the name servers, each as `address:port`; default: the name servers of the machine.
 */
export function nameResolver(servers?: readonly string[]): Resolve {
  return async (host) => {
    // RFC 6761 §6.3: names under `localhost` should not be sent to a name server.
    if (/(^|\.)localhost\.?$/i.test(host)) return LOOPBACK;
    const resolver = new Resolver({ timeout: LOOKUP_TRY_MS, tries: LOOKUP_TRIES });
    if (servers) resolver.setServers(servers);
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const failure = answers.find((answer) => answer.status === 'rejected' && !isNoSuchName(answer.reason));
    if (addresses.length === 0 && failure?.status === 'rejected') throw failure.reason;
    return addresses;
  };
}

/**
 * Opens a connection to an allowed address, without sending anything (R-I4). A name is refused when any of its
 * addresses is not allowed: a mix of public and internal addresses suggests an attack.
 * @throws NotPublicError, LookupError, or the error of the connection.
 */
export function connectGuarded(host: string, port: number, options: ConnectOptions): Promise<Socket> {
  const isAllowed = (address: string) => isAllowedAddress(address, options.allowedRanges);
  return new Promise((resolve, reject) => {
    // A literal address must be checked here, because node:net does not call `lookup` for it.
    if (isIP(host) && !isAllowed(host)) throw new NotPublicError();
    const socket = connect({
      host,
      port,
      noDelay: true,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_TRY_MS,
      lookup: guardedLookup(options.resolve, isAllowed),
    });
    const timer = setTimeout(() => socket.destroy(timeoutError()), options.timeoutMs + CLEANUP_MS);
    socket.once('close', () => clearTimeout(timer));
    socket.once('error', reject);
    socket.once('connect', () => {
      clearTimeout(timer);
      if (!isAllowed(socket.remoteAddress ?? '')) socket.destroy(new NotPublicError());
      else resolve(socket.off('error', reject));
    });
  });
}

function guardedLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  const find = async (host: string) => {
    const addresses = await resolve(host).catch((error: unknown) => {
      throw isNoSuchName(error) ? new NotPublicError() : new LookupError('', { cause: error });
    });
    if (addresses.length === 0 || !addresses.every(isAllowed)) throw new NotPublicError();
    return addresses.map((address) => ({ address, family: isIP(address) }));
  };
  return (host, { all }, callback) => {
    find(host).then(
      (found) => (all ? callback(null, found) : callback(null, found[0]?.address ?? '', found[0]?.family)),
      (error: Error) => callback(error, ''),
    );
  };
}

function isNoSuchName(error: unknown): boolean {
  return error instanceof Error && 'code' in error && NO_SUCH_NAME.has(String(error.code));
}

function timeoutError(): Error {
  return Object.assign(new Error('connecting took too long'), { code: 'ETIMEDOUT' });
}
