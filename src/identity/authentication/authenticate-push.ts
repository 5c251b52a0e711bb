/**
 * Authentication of pushes and reads (R-B6, R-B7, R-A13): a bearer token, or user name and password by HTTP Basic. A
 * password is exchanged for the claims of a token, which are cached for the lifetime of the token at most.
 */
import { isUtf8 } from 'node:buffer';
import { createHmac, randomBytes } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { openBoundedCache } from '../../platform/bounded-cache.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { DomainError } from '../../platform/errors.ts';
import { clientNetwork } from '../../platform/http/client-network.ts';
import { incomingOf } from '../../platform/http/http-body.ts';
import type { Caller } from '../caller/caller.ts';
import type { FindCaller } from '../caller/find-caller.ts';
import type { Scope } from '../issuer/grants/token-request-rules.ts';
import { type Authentication, authenticate, BEARER_CHALLENGE, type CallerEnv } from './authenticate.ts';
import type { Credentials, ExchangedToken, ExchangePassword } from './exchange-password.ts';
import type { VerifiedToken } from './verify-token.ts';

export interface BasicAuthentication extends Authentication {
  /** Exchanges the password of HTTP Basic for a token. Without this function, HTTP Basic is refused. */
  readonly exchangePassword: ExchangePassword | undefined;
  /** Runs before each check of a password. An error that it throws becomes the answer. */
  readonly beforeTry?: (c: Context) => Promise<void>;
  /**
   * Origins, besides the service's own, whose pages may use Basic with every method. Pages of other origins may use
   * Basic only with GET and HEAD. Default: none.
   */
  readonly corsOrigins?: readonly string[];
  /** Number of the operator's proxies that append to X-Forwarded-For. Default: 0. */
  readonly proxyHops?: number;
  readonly clock?: Clock;
}

const CHALLENGE = 'Basic realm="tidemark", charset="UTF-8"';
const BASIC = /^Basic +([A-Za-z\d+/=_-]+) *$/i;
const MAX_CACHED = 5000;

/**
 * Creates middleware for requests that require a scope.
 * @param applies predicate: true if the request may authenticate with HTTP Basic. Default: every request may.
 */
export type AuthenticateScope = (scope: Scope, applies?: (c: Context) => boolean) => MiddlewareHandler<CallerEnv>;

/**
 * @returns a function that creates middleware for a scope; the middleware of all scopes shares one cache of exchanged
 * passwords. The middleware accepts a bearer token. It also accepts HTTP Basic if `exchangePassword` is given and
 * `applies` returns true (R-B7). It sets `c.var.caller` or throws {DomainError}; a 401 answer has `WWW-Authenticate`.
 * Permissions are checked later.
 */
export function openBasicAuthentication(authentication: BasicAuthentication): AuthenticateScope {
  const { exchangePassword } = authentication;
  if (!exchangePassword) return (scope) => authenticate({ ...authentication, scope });
  const exchange = cacheExchange(exchangePassword, authentication.clock ?? systemClock);
  return (scope, applies = () => true) => {
    const bearer = authenticate({ ...authentication, scope });
    return async (c, next) => {
      if (!applies(c)) return bearer(c, next);
      const authorization = c.req.header('authorization');
      const credentials = parseBasic(authorization);
      try {
        if (!credentials) return await bearer(c, next);
        assertOwnPage(c, authentication.corsOrigins ?? []);
        const network = clientNetwork(incomingOf(c.env), authentication.proxyHops ?? 0);
        const beforeTry = async () => authentication.beforeTry?.(c);
        c.set(
          'caller',
          await findUser(exchange, authentication.callers, { ...credentials, network }, scope, beforeTry),
        );
      } catch (error) {
        if (error instanceof DomainError && error.code === 'invalid_token') setChallenge(c, authorization);
        throw error;
      }
      await next();
    };
  };
}

/**
 * @returns the credentials; undefined when there is no Authorization header, or its scheme is not Basic. A malformed
 * Basic header gives empty credentials, which `assertUserName` refuses.
 */
function parseBasic(authorization: string | undefined): Omit<Credentials, 'network'> | undefined {
  if (authorization === undefined || !/^Basic\b/i.test(authorization)) return undefined;
  const [, encoded = ''] = BASIC.exec(authorization) ?? [];
  const text = decodeText(Buffer.from(encoded, 'base64'));
  const colon = text.indexOf(':');
  if (colon < 0) return { userName: '', password: '' };
  return { userName: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * Refuses Basic from a page of another origin, because a browser adds a remembered password to the requests of any
 * page. GET, HEAD and the origins in CORS_ORIGINS are allowed; the value `*` is not enough.
 * @throws {DomainError} permission_denied for a refused request.
 */
function assertOwnPage({ req }: Context, corsOrigins: readonly string[]): void {
  if (req.method === 'GET' || req.method === 'HEAD') return;
  const [site, origin] = [req.header('sec-fetch-site'), req.header('origin')];
  // Only browsers set `Sec-Fetch-Site` and `Origin`; older browsers send `Origin` without `Sec-Fetch-Site`.
  const isOwn =
    site === undefined
      ? origin === undefined || hostOf(origin) === req.header('host')
      : site === 'same-origin' || site === 'none';
  if (isOwn || (origin !== undefined && corsOrigins.includes(origin))) return;
  // CORS_ORIGINS accepts an origin only as `URL.origin` spells it. It does not accept `null`, which a sandboxed page
  // sends.
  const isListable = origin !== undefined && URL.parse(origin)?.origin === origin;
  const remedy = isListable ? `, or ask the operator to add ${origin} to the setting CORS_ORIGINS` : '';
  throw new DomainError(
    'permission_denied',
    `HTTP Basic is refused for ${req.method} from a page of another origin, because a browser adds a remembered password to the requests of any page; send a bearer token${remedy}`,
  );
}

/** @returns undefined for the text `null`, which a sandboxed page sends as its origin. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** Decodes valid UTF-8 as UTF-8, and other bytes as Latin-1. Older clients send Latin-1 (RFC 7617 §2.1). */
function decodeText(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1');
}

/**
 * Sets `WWW-Authenticate`. Never offers Basic to a script in a page, because the browser would prompt the user for a
 * password.
 */
function setChallenge(c: Context, authorization: string | undefined): void {
  // `Sec-Fetch-Mode` alone does not prove a browser: Node's fetch sends it too. Only browsers send `Sec-Fetch-Site`.
  const isOfPage = c.req.header('sec-fetch-site') !== undefined && c.req.header('sec-fetch-mode') !== 'navigate';
  if (isOfPage) {
    // `authenticate` sets the bearer challenge, but does not run for a request with Basic credentials.
    if (/^Basic\b/i.test(authorization ?? '')) c.header('WWW-Authenticate', BEARER_CHALLENGE);
  } else if (authorization === undefined) c.header('WWW-Authenticate', CHALLENGE, { append: true });
  else if (/^Basic\b/i.test(authorization)) c.header('WWW-Authenticate', CHALLENGE);
}

interface Exchanged {
  readonly verified: VerifiedToken;
  /** Removes `verified` from the cache. Undefined when `verified` does not come from the cache. */
  readonly evict: (() => void) | undefined;
}

type CachedExchange = (credentials: Credentials, beforeTry: () => Promise<void>) => Promise<Exchanged>;

/** Finds the caller. If `callers` refuses a cached token as invalid, checks the password once more. */
async function findUser(
  exchange: CachedExchange,
  callers: FindCaller,
  credentials: Credentials,
  scope: Scope,
  beforeTry: () => Promise<void>,
): Promise<Caller> {
  const { verified, evict } = await exchange(credentials, beforeTry);
  assertScope(verified, scope);
  try {
    return await callers(verified);
  } catch (error) {
    if (!evict || !(error instanceof DomainError) || error.code !== 'invalid_token') throw error;
    evict();
    const { verified: fresh } = await exchange(credentials, beforeTry);
    assertScope(fresh, scope);
    return callers(fresh);
  }
}

function assertScope({ scopes }: VerifiedToken, scope: Scope): void {
  if (scopes.has(scope)) return;
  throw new DomainError(
    'insufficient_scope',
    `the token issuer did not grant the scope ${scope} for this user name and password; send a bearer token that has ` +
      'this scope, or ask the operator to allow this scope for the client that the setting PUSH_BASIC_CLIENT_ID names',
  );
}

/** @throws {DomainError} invalid_token when the user name is empty. A malformed header gives an empty user name too. */
function assertUserName({ userName }: Credentials): void {
  if (userName !== '') return;
  throw new DomainError(
    'invalid_token',
    'the header Authorization must be Basic <base64 of user name, colon and password>, got no user name',
  );
}

interface CacheEntry {
  readonly token: Promise<ExchangedToken>;
  untilMs: number;
}

/**
 * Caches the tokens that `exchange` returns, but no refusals. The cache keys are HMACs, so the cache holds no password.
 * Concurrent calls with the same credentials share one call of `exchange`.
 */
function cacheExchange(exchange: ExchangePassword, clock: Clock): CachedExchange {
  const secret = randomBytes(32);
  const cache = openBoundedCache<string, CacheEntry>(MAX_CACHED);
  const keyOf = ({ userName, password }: Credentials): string =>
    createHmac('sha256', secret)
      .update(JSON.stringify([userName, password]))
      .digest('base64');
  const exchangeNow = async (credentials: Credentials, beforeTry: () => Promise<void>, entry: CacheEntry) => {
    await beforeTry();
    assertUserName(credentials);
    const token = await exchange(credentials);
    entry.untilMs = clock.nowMillis() + token.ttlSec * 1000;
    return token;
  };
  return async (credentials, beforeTry) => {
    const key = keyOf(credentials);
    const known = cache.get(key);
    const evict = (entry: CacheEntry) => {
      if (cache.get(key) === entry) cache.delete(key);
    };
    if (known && clock.nowMillis() < known.untilMs) {
      return { verified: (await known.token).verified, evict: () => evict(known) };
    }
    const entry = { untilMs: Number.POSITIVE_INFINITY } as { -readonly [Name in keyof CacheEntry]: CacheEntry[Name] };
    entry.token = exchangeNow(credentials, beforeTry, entry);
    cache.set(key, entry);
    try {
      return { verified: (await entry.token).verified, evict: undefined };
    } catch (error) {
      evict(entry);
      throw error;
    }
  };
}
