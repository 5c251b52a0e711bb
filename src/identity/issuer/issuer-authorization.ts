/** Grants of authorizations by browser: the requested scopes that the client may have, in one account (R-B2, R-B4). */
import { errors, type Grant, type KoaContextWithOIDC } from 'oidc-provider';
import { findTokenUser } from '../authentication/find-token-user.ts';
import type { GrantContext } from './grants/issuer-grants.ts';
import { API_RESOURCE, allowedScopes } from './grants/issuer-resource.ts';
import { writeTokenGrant } from './grants/token-grant.ts';
import { parseRequestedAccount } from './grants/token-request-rules.ts';

/** Parameters of an authorization in addition to the standard ones. */
export const AUTHORIZATION_PARAMETERS = ['account', 'kc_action'] as const;

/**
 * Creates a grant per authorization, because each may name another account (R-B2, R-B4).
 * @returns undefined before the user is signed in.
 * @throws access_denied when the user has no access to the account; invalid_request when it is malformed.
 */
export async function makeGrant(context: GrantContext, ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
  const { client, session, provider, params = {} } = ctx.oidc;
  const userId = session?.accountId;
  if (!client || userId === undefined) return undefined;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: userId });
  grant.addOIDCScope('openid');
  grant.addResourceScope(API_RESOURCE, allowedScopes(client).join(' '));
  const accountId = await findAccountId(context, userId, params);
  const grantId = await grant.save();
  if (accountId !== undefined) {
    await writeTokenGrant(context.database, { grantId, userId, accountId, ttlSec: context.policy.refreshTokenTtlSec });
  }
  return grant;
}

/** @returns undefined for a user without an account, who may sign in to change the password but gets no token. */
async function findAccountId(
  { database, clock }: GrantContext,
  userId: string,
  params: Readonly<Record<string, unknown>>,
): Promise<number | undefined> {
  const requested = parseRequestedAccount(params);
  if (requested.kind === 'malformed')
    throw new errors.InvalidRequest(`${requested.field} must hold the number of an account`);
  const requestedId = requested.kind === 'account' ? requested.accountId : undefined;
  const user = await findTokenUser(database, userId, requestedId, new Date(clock.nowMillis()));
  if (requestedId !== undefined && user?.accountId === undefined) {
    throw new errors.AccessDenied('the user has no access to the account');
  }
  return user?.accountId;
}
