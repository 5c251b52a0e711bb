/**
 * Verifies access tokens with `jose` (R-B1): the issuer must be trusted, and the asymmetric signature, the audience and
 * the times must be valid. The verifier returns the claims; find-caller.ts decides what the user may do (R-B5).
 */
import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { DomainError } from '../../platform/errors.ts';
import { MAX_INT4 } from '../../platform/limits.ts';
import { parseScopes } from '../issuer/grants/token-request-rules.ts';
import { KeyCache } from './key-cache.ts';
import type { TrustedIssuer } from './trusted-issuers.ts';

const CLOCK_TOLERANCE_SEC = 30;
const ASYMMETRIC_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
];

export interface VerifiedToken {
  readonly issuer: string;
  /** Claim `sub`: the user's id at the issuer. */
  readonly subject: string;
  /** Claim `iat` in Unix seconds; undefined when absent. */
  readonly issuedSec?: number | undefined;
  /**
   * Fingerprint of the password that the embedded issuer checked (R-B7). The claims are valid only while the user has
   * this password. Undefined when the claims were read from a token.
   */
  readonly passwordFingerprint?: string | undefined;
  /** Claim `account`; undefined when it is absent, null or an empty text. */
  readonly accountId: number | undefined;
  readonly scopes: ReadonlySet<string>;
  /**
   * Roles from the claim `roles` and from Keycloak's claim `realm_access.roles`. For information only: the role that
   * counts is in the database (R-B5).
   */
  readonly roles: ReadonlySet<string>;
  /** Claim `act.sub`: the ADMIN who impersonates the user (R-B14). */
  readonly actorSubject: string | undefined;
  /** Claim `email`; undefined unless the claim `email_verified` is true (R-B5). */
  readonly verifiedEmail: string | undefined;
  /** Claim `businessId` (R-B5). */
  readonly businessId: string | undefined;
}

/**
 * @throws {DomainError} invalid_token when the token is refused; dependency_unavailable when the issuer's keys cannot
 * be read.
 */
export type VerifyToken = (token: string) => Promise<VerifiedToken>;

export interface TokenVerifierOptions {
  readonly issuers: readonly TrustedIssuer[];
  readonly fetch?: typeof fetch;
  readonly clock?: Clock;
}

/**
 * Creates a verifier for the tokens of `issuers`, each with its own keys and audience (R-B1).
 * @returns the verifier; `VerifyToken` lists its errors.
 */
export function createTokenVerifier(options: TokenVerifierOptions): VerifyToken {
  const { issuers, clock = systemClock } = options;
  const trusted = new Map(
    issuers.map((issuer) => [
      issuer.issuer,
      { ...issuer, keys: new KeyCache(issuer.keys, options.fetch ?? fetch, clock) },
    ]),
  );
  return async (token) => {
    const name = readIssuer(token);
    const issuer = typeof name === 'string' ? trusted.get(name) : undefined;
    if (!issuer)
      throw new DomainError(
        'invalid_token',
        `the issuer of the token must be a trusted issuer, got ${show(name, 'iss')}`,
      );
    try {
      const { payload } = await jwtVerify(token, issuer.keys.getKey, {
        issuer: issuer.issuer,
        audience: issuer.audience,
        algorithms: ASYMMETRIC_ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_SEC,
        currentDate: new Date(clock.nowMillis()),
        requiredClaims: ['sub', 'exp'],
      });
      return readClaims(issuer.issuer, payload);
    } catch (error) {
      throw error instanceof errors.JOSEError ? refuse(error, issuer.audience) : error;
    }
  };
}

/** @returns the claim `iss`; undefined when absent. The token is not verified yet, so `iss` can be any JSON value. */
function readIssuer(token: string): unknown {
  try {
    return decodeJwt(token).iss;
  } catch {
    throw new DomainError('invalid_token', 'the token is not a signed JWT');
  }
}

const MAX_SHOWN = 200;

/** @returns the value of a claim as an error message shows it, cut to 200 characters. */
function show(claim: unknown, name: string): string {
  if (claim === undefined) return `no claim ${name}`;
  if (typeof claim === 'string') return JSON.stringify(claim.slice(0, MAX_SHOWN));
  return JSON.stringify(claim).slice(0, MAX_SHOWN);
}

function refuse(error: errors.JOSEError, audience: string): DomainError {
  return new DomainError('invalid_token', describeRefusal(error, audience));
}

function describeRefusal(error: errors.JOSEError, audience: string): string {
  if (error instanceof errors.JWTExpired) return 'the token has expired';
  if (error instanceof errors.JWTClaimValidationFailed) return describeClaim(error, audience);
  if (error instanceof errors.JOSEAlgNotAllowed)
    return `the token must be signed with one of the algorithms ${ASYMMETRIC_ALGORITHMS.join(', ')}`;
  return 'the signature of the token cannot be verified';
}

/**
 * Describes a refused claim. The description may name the value that the claim must have: the signature is already
 * verified, so the token comes from a trusted issuer.
 */
function describeClaim({ claim, reason, payload }: errors.JWTClaimValidationFailed, audience: string): string {
  if (claim === 'aud') {
    return `the claim aud of the token must contain ${JSON.stringify(audience)}, got ${show(payload.aud, 'aud')}`;
  }
  if (claim === 'nbf' && reason === 'check_failed') {
    return 'the token is not valid yet: its claim nbf is later than the clock of this service';
  }
  const rule = claim === 'sub' ? 'given' : 'a number';
  return `the claim ${claim} of the token must be ${rule}, got ${show(payload[claim], claim)}`;
}

function readClaims(issuer: string, payload: JWTPayload): VerifiedToken {
  const { sub = '', iat, account, scope, roles, realm_access: realmAccess, act } = payload;
  return {
    issuer,
    subject: sub,
    issuedSec: iat,
    accountId: readAccount(account),
    // The previous identity system writes the scopes as a list.
    scopes: parseScopes(typeof scope === 'string' ? scope : texts(scope).join(' ')),
    roles: new Set([...texts(roles), ...texts((realmAccess as { roles?: unknown } | undefined)?.roles)]),
    // A token with `act` but without `act.sub` gets '', so find-caller.ts refuses the token.
    actorSubject: act === undefined ? undefined : (text((act as { sub?: unknown } | null)?.sub) ?? ''),
    verifiedEmail: payload.email_verified === true ? text(payload.email) : undefined,
    businessId: text(payload.businessId),
  };
}

/**
 * Reads the claim `account`.
 * @returns undefined for a missing or empty claim: the caller then works in the user's active account. The id 0 is not
 *   empty: no account has this id, so the request is refused later.
 * @throws {DomainError} invalid_token when the claim is neither empty nor an id.
 */
function readAccount(claim: unknown): number | undefined {
  if (claim === undefined || claim === null || claim === '') return undefined;
  const accountId = typeof claim === 'string' && /^\d+$/.test(claim) ? Number(claim) : claim;
  if (typeof accountId === 'number' && Number.isInteger(accountId) && accountId >= 0 && accountId <= MAX_INT4)
    return accountId;
  const got = show(claim, 'account');
  throw new DomainError('invalid_token', `the token's claim "account" must be the id of an account, got ${got}`);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
