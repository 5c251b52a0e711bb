/**
 * Remembers tokens that were verified: checking a signature costs more than all else a small push costs. What the user
 * may do is looked up all the same (find-caller); a token that has expired is refused as before.
 */
import { decodeJwt } from 'jose';
import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../../platform/clock.ts';
import type { VerifiedToken, VerifyToken } from './verify-token.ts';

const MAX_TOKENS = 5000;
// A key that is withdrawn stops its tokens after this at the latest.
const MAX_AGE_MS = 60_000;

interface Remembered {
  readonly verified: VerifiedToken;
  readonly untilMs: number;
}

export interface CachingTokenVerifier extends VerifyToken {
  /** What is remembered of a token; undefined: it has to be verified. */
  findCached(token: string): VerifiedToken | undefined;
}

/** As `verifier`, which is asked at most once a minute for the same token. Refusals are not remembered. */
export function cacheVerifiedTokens(verifier: VerifyToken, clock: Clock = systemClock): CachingTokenVerifier {
  const remembered = new LRUCache<string, Remembered>({ max: MAX_TOKENS });
  const findCached = (token: string): VerifiedToken | undefined => {
    const known = remembered.get(token);
    return known && clock.nowMillis() < known.untilMs ? known.verified : undefined;
  };
  const verify: VerifyToken = async (token) => {
    const known = findCached(token);
    if (known) return known;
    const now = clock.nowMillis();
    const verified = await verifier(token);
    const { exp = 0 } = decodeJwt(token);
    remembered.set(token, { verified, untilMs: Math.min(exp * 1000, now + MAX_AGE_MS) });
    return verified;
  };
  return Object.assign(verify, { findCached });
}
