/** What an authorization by browser grants: all the client may have and asks for, in one account (R-B2, R-B4). */
import { errors, type Grant, type KoaContextWithOIDC } from 'oidc-provider';
import { findTokenUser } from '../authentication/find-token-user.ts';
import type { GrantContext } from './grants/issuer-grants.ts';
import { API_RESOURCE, allowedScopes } from './grants/issuer-resource.ts';
import { writeTokenGrant } from './grants/token-grant.ts';
import { parseRequestedAccount } from './grants/token-request-rules.ts';

/** Parameters of an authorization beyond the standard ones. */
export const AUTHORIZATION_PARAMETERS = ['account', 'kc_action'] as const;

/**
 * A grant of its own for each authorization, because each may name another account.
 * @throws access_denied for a user without access to it.
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

/** undefined for somebody who belongs to no account: they may sign in to change their password, and get no token. */
async function findAccountId(
  { database, clock }: GrantContext,
  userId: string,
  params: Readonly<Record<string, unknown>>,
): Promise<number | undefined> {
  const requested = parseRequestedAccount(params);
  if (requested.kind === 'malformed') throw new errors.InvalidRequest(`${requested.field} must name an account number`);
  const wanted = requested.kind === 'account' ? requested.accountId : undefined;
  const user = await findTokenUser(database, userId, wanted, new Date(clock.nowMillis()));
  if (wanted !== undefined && user?.accountId === undefined) {
    throw new errors.AccessDenied('the user has no access to the account');
  }
  return user?.accountId;
}
