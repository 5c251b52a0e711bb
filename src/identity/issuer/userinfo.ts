/**
 * Answers `/userinfo` for the issuer's access tokens, which are JWTs for the API. oidc-provider's own endpoint would
 * refuse these JWTs: it accepts only opaque tokens without a resource.
 */
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Clock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { findTokenUser } from '../authentication/find-token-user.ts';
import type { VerifiedToken, VerifyToken } from '../authentication/verify-token.ts';
import { findProfile } from '../directory/find-profile.ts';

export interface UserinfoContext {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly verifier: VerifyToken;
}

const PATH = '/protocol/openid-connect/userinfo';

/** Middleware that answers `userinfo`. Mount it before the provider's routes. */
export function userinfo(context: UserinfoContext) {
  return async (ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> => {
    if (ctx.path !== PATH || (ctx.method !== 'GET' && ctx.method !== 'POST')) return next();
    ctx.set('Cache-Control', 'no-store');
    const token = await verify(context, ctx.get('authorization'));
    const now = new Date(context.clock.nowMillis());
    const user = token && (await findTokenUser(context.database, token.subject, undefined, now));
    // Refuses a token whose user is not found, or that was issued before the user's tokens were revoked.
    if (!user || (token.issuedSec ?? 0) < user.tokensValidFromSec) return refuse(ctx);
    const profile = await findProfile(context.database, token.subject, now);
    if (!profile) return refuse(ctx);
    ctx.body = { ...profile, ...(token.accountId !== undefined && { account: token.accountId }) };
  };
}

async function verify({ verifier }: UserinfoContext, authorization: string): Promise<VerifiedToken | undefined> {
  const [, token] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
  try {
    return token === undefined ? undefined : await verifier(token);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'invalid_token') return undefined;
    throw error;
  }
}

function refuse(ctx: KoaContextWithOIDC): void {
  ctx.status = 401;
  ctx.set('WWW-Authenticate', 'Bearer realm="tidemark", error="invalid_token"');
  ctx.body = {
    error: 'invalid_token',
    error_description:
      'the access token is missing, invalid, expired or revoked, or its user is locked or does not exist',
  };
}
