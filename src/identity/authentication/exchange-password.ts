/**
 * Exchanges the user name and the password of HTTP Basic for the claims of a token (R-B7). Asks the token endpoint at
 * PUSH_BASIC_TOKEN_URL. If no URL is set, the embedded issuer computes the claims.
 */
import { z } from 'zod';
import type { Config } from '../../config.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { issuerUrl } from '../issuer/issuer-url.ts';
import { signIn } from '../passwords/sign-in.ts';
import type { SignInPolicy } from '../passwords/sign-in-sources.ts';
import { findTokenUser } from './find-token-user.ts';
import { ISSUER_ADVICE } from './trusted-issuers.ts';
import type { VerifiedToken, VerifyToken } from './verify-token.ts';

export interface Credentials {
  readonly userName: string;
  readonly password: string;
  /** Network of the client's address (`clientNetwork`). */
  readonly network: string;
}

export interface ExchangedToken {
  readonly verified: VerifiedToken;
  /** Lifetime of the token in seconds. */
  readonly ttlSec: number;
}

/**
 * @throws {DomainError} invalid_token when the issuer refuses the credentials or the user; dependency_unavailable when
 *   the issuer gives neither a token nor a refusal. Also throws the errors of `signIn` (rate_limited,
 *   dependency_unavailable) and of the token verifier.
 */
export type ExchangePassword = (credentials: Credentials) => Promise<ExchangedToken>;

/**
 * The scope for pushes and the scope for reads. If the answer is invalid_scope, the request is repeated with the first
 * scope alone.
 */
const SCOPES = ['push-data', 'datahub-api'] as const;
const [PUSH_SCOPE] = SCOPES;
const TIMEOUT_MS = 10_000;

/**
 * @returns the exchange that the settings configure; undefined when no token endpoint is set and the embedded issuer is
 *   not trusted (R-B7).
 */
export function passwordExchange(
  config: Config,
  database: Database,
  verifier: VerifyToken,
  clock: Clock,
): ExchangePassword | undefined {
  if (config.PUSH_BASIC_TOKEN_URL !== undefined) {
    const { PUSH_BASIC_CLIENT_ID: clientId = '', PUSH_BASIC_CLIENT_SECRET: clientSecret = '' } = config;
    return exchangeAtEndpoint({ url: config.PUSH_BASIC_TOKEN_URL, clientId, clientSecret, verifier, fetch });
  }
  const own = issuerUrl(config);
  const isTrusted = config.TRUSTED_ISSUERS?.some(({ issuer }) => issuer === own) ?? true;
  return isTrusted ? exchangeHere(config, database, own, clock) : undefined;
}

/** @returns the settings of sign-in by password. */
export function signInPolicy(config: Config): SignInPolicy {
  const { SIGN_IN_MAX_FAILURES: maxFailures, SIGN_IN_LOCK_SEC: lockSec, PROXY_HOPS: proxyHops } = config;
  return { maxFailures, lockSec, proxyHops };
}

function exchangeHere(config: Config, database: Database, issuer: string, clock: Clock): ExchangePassword {
  const policy = signInPolicy(config);
  return async (credentials) => {
    const result = await signIn(database, { ...credentials, isDevice: true }, policy, clock);
    if (result.kind === 'wrong_credentials')
      throw refused('the user name or password is wrong, or sign-in is blocked after too many wrong passwords');
    if (result.kind === 'must_change_password') throw refused('Account is not fully set up');
    const user = await findTokenUser(database, result.userId, undefined, new Date(clock.nowMillis()));
    if (!user || user.isLocked) throw refused('the user is locked or does not exist');
    if (user.accountId === undefined) throw refused('the user is not a member of any account');
    const verified = {
      ...{ issuer, subject: user.userId, accountId: user.accountId, passwordFingerprint: result.passwordFingerprint },
      ...{ scopes: new Set(SCOPES), roles: new Set([user.role]) },
      ...{ actorSubject: undefined, verifiedEmail: undefined, businessId: undefined },
    };
    return { verified, ttlSec: config.ACCESS_TOKEN_TTL_SEC };
  };
}

export interface TokenEndpoint {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly verifier: VerifyToken;
  readonly fetch: typeof fetch;
}

const tokenAnswer = z.object({ access_token: z.string().min(1), expires_in: z.number().positive().default(60) });
const errorAnswer = z.object({ error: z.string() });

/**
 * Creates the function that exchanges a password for a token at a token endpoint (R-B7).
 * @returns the function. The function throws the errors of `verifier`, and {DomainError}:
 * - invalid_token: the endpoint refuses the password or the user.
 * - dependency_unavailable: the endpoint does not answer, or its answer is neither a token nor such a refusal.
 */
export function exchangeAtEndpoint({
  url,
  clientId,
  clientSecret,
  verifier,
  ...endpoint
}: TokenEndpoint): (credentials: Omit<Credentials, 'network'>) => Promise<ExchangedToken> {
  return async ({ userName, password }) => {
    const request = (scope: string) =>
      postForm(endpoint.fetch, url, {
        ...{ grant_type: 'password', client_id: clientId, client_secret: clientSecret },
        ...{ scope, username: userName, password },
      });
    let answer = await request(SCOPES.join(' '));
    if (errorAnswer.safeParse(answer).data?.error === 'invalid_scope') answer = await request(PUSH_SCOPE);
    const token = tokenAnswer.safeParse(answer);
    if (token.success) {
      const verified = await verifier(token.data.access_token);
      // Each request above asks for PUSH_SCOPE. So the caller gets this scope even when the token does not name it.
      const scopes = new Set([...verified.scopes, PUSH_SCOPE]);
      return { verified: { ...verified, scopes }, ttlSec: token.data.expires_in };
    }
    const { data } = errorAnswer.safeParse(answer);
    if (data?.error === 'invalid_grant')
      throw refused('the token issuer refused the user name or password, or does not allow the user to sign in');
    throw unavailable(url, `answered ${data?.error ?? 'without a token'}`);
  };
}

async function postForm(
  fetchToken: typeof fetch,
  url: string,
  form: Readonly<Record<string, string>>,
): Promise<unknown> {
  try {
    const body = new URLSearchParams(form);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return await (await fetchToken(url, { method: 'POST', body, redirect: 'error', signal })).json();
  } catch (error) {
    throw unavailable(url, 'did not answer with JSON', error);
  }
}

function refused(message: string): DomainError {
  return new DomainError('invalid_token', message);
}

/**
 * @returns the error for the caller. The URL and the reason are in `cause`, which is logged but not sent to the caller.
 */
function unavailable(url: string, reason: string, cause?: unknown): DomainError {
  const message = `the token issuer did not answer with a token; ${ISSUER_ADVICE}`;
  const failure = new DomainError('dependency_unavailable', message);
  failure.cause = new Error(`PUSH_BASIC_TOKEN_URL (${url}) ${reason}`, { cause });
  return failure;
}
