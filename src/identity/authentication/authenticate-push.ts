/**
 * The door of push (R-B6, R-B7): a bearer with the scope `push-data`, or name and password by HTTP Basic, exchanged for
 * what a token would say and remembered for as long as it would live, or until the password is changed.
 */
import { isUtf8 } from 'node:buffer';
import { createHmac, randomBytes } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Caller } from '../caller/caller.ts';
import type { FindCaller } from '../caller/find-caller.ts';
import { type Authentication, authenticate, type CallerEnv } from './authenticate.ts';
import type { Credentials, ExchangedToken, ExchangePassword } from './exchange-password.ts';
import type { VerifiedToken } from './verify-token.ts';

export interface PushAuthentication extends Authentication {
  /** undefined: Basic is not accepted. */
  readonly exchangePassword: ExchangePassword | undefined;
  /** Called before a password is tried; what it throws is answered. */
  readonly beforeTry?: (c: Context) => Promise<void>;
  readonly clock?: Clock;
}

const CHALLENGE = 'Basic realm="tidemark", charset="UTF-8"';
const BASIC = /^Basic +([A-Za-z\d+/=_-]+) *$/i;
const MAX_REMEMBERED = 5000;

/** Lets those pass who may push, as `c.var.caller`. Refusals carry `WWW-Authenticate`. */
export function authenticatePush(authentication: PushAuthentication): MiddlewareHandler<CallerEnv> {
  const bearer = authenticate({ ...authentication, scope: 'push-data' });
  const { exchangePassword } = authentication;
  if (!exchangePassword) return bearer;
  const exchange = rememberExchange(exchangePassword, authentication.clock ?? systemClock);
  return async (c, next) => {
    const authorization = c.req.header('authorization');
    const credentials = parseBasic(authorization);
    try {
      if (!credentials) return await bearer(c, next);
      const beforeTry = async () => authentication.beforeTry?.(c);
      c.set('caller', await findPusher(exchange, authentication.callers, credentials, beforeTry));
    } catch (error) {
      if (error instanceof DomainError && error.code === 'invalid_token') setChallenge(c, authorization);
      throw error;
    }
    await next();
  };
}

/** @returns undefined for what is no Basic header; a malformed one is one with credentials that are wrong. */
function parseBasic(authorization: string | undefined): Credentials | undefined {
  if (authorization === undefined || !/^Basic\b/i.test(authorization)) return undefined;
  const [, encoded = ''] = BASIC.exec(authorization) ?? [];
  const text = decodeText(Buffer.from(encoded, 'base64'));
  const colon = text.indexOf(':');
  if (colon < 0) return { userName: '', password: '' };
  return { userName: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** UTF-8, as the challenge says; older clients send Latin-1 all the same (RFC 7617 §2.1), which hardly ever is UTF-8 too. */
function decodeText(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1');
}

/** Basic is offered to who came without credentials or with these, not to a bearer that is refused. */
function setChallenge(c: Context, authorization: string | undefined): void {
  if (authorization === undefined) c.header('WWW-Authenticate', CHALLENGE, { append: true });
  else if (/^Basic\b/i.test(authorization)) c.header('WWW-Authenticate', CHALLENGE);
}

interface Exchanged {
  readonly verified: VerifiedToken;
  /** undefined: it was tried just now. */
  readonly forget: (() => void) | undefined;
}

type RememberedExchange = (credentials: Credentials, beforeTry: () => Promise<void>) => Promise<Exchanged>;

/** What is remembered may be of a password that was changed since: then these are tried anew, and it is forgotten. */
async function findPusher(
  exchange: RememberedExchange,
  callers: FindCaller,
  credentials: Credentials,
  beforeTry: () => Promise<void>,
): Promise<Caller> {
  const { verified, forget } = await exchange(credentials, beforeTry);
  try {
    return await callers(verified);
  } catch (error) {
    if (!forget || !(error instanceof DomainError) || error.code !== 'invalid_token') throw error;
    forget();
    return callers((await exchange(credentials, beforeTry)).verified);
  }
}

interface Remembered {
  readonly token: Promise<ExchangedToken>;
  untilMs: number;
}

/**
 * The key is a hash with a secret of this process: neither the password nor anything that could be guessed from stays in
 * memory. Those who come while a password is being tried wait for that. What was refused is not remembered.
 */
function rememberExchange(exchange: ExchangePassword, clock: Clock): RememberedExchange {
  const secret = randomBytes(32);
  const remembered = new LRUCache<string, Remembered>({ max: MAX_REMEMBERED });
  const keyOf = ({ userName, password }: Credentials): string =>
    createHmac('sha256', secret)
      .update(JSON.stringify([userName, password]))
      .digest('base64');
  const exchangeNow = async (credentials: Credentials, beforeTry: () => Promise<void>, entry: Remembered) => {
    await beforeTry();
    const token = await exchange(credentials);
    entry.untilMs = clock.nowMillis() + token.ttlSec * 1000;
    return token;
  };
  return async (credentials, beforeTry) => {
    const key = keyOf(credentials);
    const known = remembered.get(key);
    const forget = (entry: Remembered) => {
      if (remembered.get(key) === entry) remembered.delete(key);
    };
    if (known && clock.nowMillis() < known.untilMs) {
      return { verified: (await known.token).verified, forget: () => forget(known) };
    }
    const entry = { untilMs: Number.POSITIVE_INFINITY } as { -readonly [Name in keyof Remembered]: Remembered[Name] };
    entry.token = exchangeNow(credentials, beforeTry, entry);
    remembered.set(key, entry);
    try {
      return { verified: (await entry.token).verified, forget: undefined };
    } catch (error) {
      forget(entry);
      throw error;
    }
  };
}
