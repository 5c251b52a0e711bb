/**
 * Connections to receivers (R-I4). What is connected to is decided here, after the name was looked up and for every new
 * connection: an answer of the name service is used once and for the very connection it was checked for, so that it does
 * not matter what the name leads to before or after. Not one byte is sent before the far end is known to be allowed.
 */
import { Resolver } from 'node:dns/promises';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { type AddressRange, isAllowedAddress } from '../../platform/address-rules.ts';

/** Every address of a name. @throws an error with a code of node:dns. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface ConnectOptions {
  readonly allowedRanges: readonly AddressRange[];
  readonly timeoutMs: number;
  readonly resolve: Resolve;
}

/** There is no allowed address: none at all, or one among them that is not. Which of the two is not told to anybody. */
export class NotPublicError extends Error {
  override readonly name = 'NotPublicError';
}

/** The name service did not answer. */
export class LookupError extends Error {
  override readonly name = 'LookupError';
}

const LOOKUP_TRY_MS = 2000;
const LOOKUP_TRIES = 2;
const ADDRESS_TRY_MS = 1000;
// Whose exchange has ended by its own time-out is told so: this one only ends what nobody waits for any more.
const LEFT_OVER_MS = 1000;
const LOOPBACK = ['127.0.0.1', '::1'];
const NO_SUCH_NAME: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * Asks the name servers. The threads that `dns.lookup` would block for a name that hangs are those of every file.
 * @param servers `address:port` of them; default: those of the machine.
 */
export function nameResolver(servers?: readonly string[]): Resolve {
  return async (host) => {
    // RFC 6761 §6.3: never asked of a name server.
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
 * A connection to an allowed address, nothing sent yet. A name is refused when any of its addresses is not allowed: who
 * mixes them has no reason that would be ours.
 * @throws NotPublicError, LookupError, or the error of the connection.
 */
export function connectGuarded(host: string, port: number, options: ConnectOptions): Promise<Socket> {
  const isAllowed = (address: string) => isAllowedAddress(address, options.allowedRanges);
  return new Promise((resolve, reject) => {
    // Of an address nothing is looked up.
    if (isIP(host) && !isAllowed(host)) throw new NotPublicError();
    const socket = connect({
      host,
      port,
      noDelay: true,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_TRY_MS,
      lookup: guardedLookup(options.resolve, isAllowed),
    });
    const timer = setTimeout(() => socket.destroy(timeoutError()), options.timeoutMs + LEFT_OVER_MS);
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
  return Object.assign(new Error('the connection took too long'), { code: 'ETIMEDOUT' });
}
