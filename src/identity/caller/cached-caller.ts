/**
 * The caller behind a bearer as far as it is remembered, at once: for doors that answer most requests without waiting for
 * anything. Whoever is not remembered, or may not pass, is left to `authenticate`, which says why.
 */
import { BEARER } from '../authentication/authenticate.ts';
import type { CachingTokenVerifier } from '../authentication/verified-token-cache.ts';
import type { Scope } from '../issuer/grants/token-request-rules.ts';
import type { Caller } from './caller.ts';
import type { CallerCache } from './find-caller.ts';

export type FindCachedCaller = (authorization: string | undefined, scope: Scope) => Caller | undefined;

export function createCachedCallerLookup(verifier: CachingTokenVerifier, callers: CallerCache): FindCachedCaller {
  // Clients come again with the same header: comparing it takes less than taking it apart and hashing what it holds.
  let lastHeader: string | undefined;
  let lastToken: string | undefined;
  const tokenOf = (authorization: string | undefined): string | undefined => {
    if (authorization !== lastHeader) {
      lastHeader = authorization;
      lastToken = BEARER.exec(authorization ?? '')?.[1];
    }
    return lastToken;
  };
  return (authorization, scope) => {
    const token = tokenOf(authorization);
    const verified = token === undefined ? undefined : verifier.findCached(token);
    return verified?.scopes.has(scope) ? callers.findCached(verified) : undefined;
  };
}
