/** Finds the caller that a bearer token identifies, in caches only: most requests are answered without waiting. */
import { BEARER } from '../authentication/authenticate.ts';
import type { CachingTokenVerifier } from '../authentication/verified-token-cache.ts';
import type { Scope } from '../issuer/grants/token-request-rules.ts';
import type { Caller } from './caller.ts';
import type { CallerCache } from './find-caller.ts';

export type FindCachedCaller = (authorization: string | undefined, scope: Scope) => Caller | undefined;

/** Creates the lookup function. When it returns undefined, `authenticate` must check the request. */
export function createCachedCallerLookup(verifier: CachingTokenVerifier, callers: CallerCache): FindCachedCaller {
  // A client sends the same header again and again: comparing it with the last header is faster than parsing it.
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
