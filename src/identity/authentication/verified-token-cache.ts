/**
 * Cache of verified tokens, which saves checking the signature on every request. An expired token is still refused, and
 * find-caller.ts still decides what the user may do.
 */
import { decodeJwt } from 'jose';
import { openBoundedCache } from '../../platform/bounded-cache.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import type { VerifiedToken, VerifyToken } from './verify-token.ts';

const MAX_TOKENS = 5000;
/** Maximum time for which a token is accepted without another verification. */
const MAX_AGE_MS = 60_000;

interface CacheEntry {
  readonly verified: VerifiedToken;
  readonly untilMs: number;
}

export interface CachingTokenVerifier extends VerifyToken {
  /** @returns the cached claims of a token; undefined when the token must be verified. */
  findCached(token: string): VerifiedToken | undefined;
}

/** Wraps `verifier`: a verified token is accepted for up to a minute without another call. Refusals are not cached. */
export function cacheVerifiedTokens(verifier: VerifyToken, clock: Clock = systemClock): CachingTokenVerifier {
  const cache = openBoundedCache<string, CacheEntry>(MAX_TOKENS);
  const findCached = (token: string): VerifiedToken | undefined => {
    const known = cache.get(token);
    return known && clock.nowMillis() < known.untilMs ? known.verified : undefined;
  };
  const verify: VerifyToken = async (token) => {
    const known = findCached(token);
    if (known) return known;
    const now = clock.nowMillis();
    const verified = await verifier(token);
    const { exp = 0 } = decodeJwt(token);
    cache.set(token, { verified, untilMs: Math.min(exp * 1000, now + MAX_AGE_MS) });
    return verified;
  };
  return Object.assign(verify, { findCached });
}
