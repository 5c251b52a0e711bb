/**
 * Finds or creates the grant when a user signs in to a client with a browser. A grant covers one account and all scopes
 * that the client may have (R-B2, R-B4).
 */
import { errors, type Grant, type KoaContextWithOIDC } from 'oidc-provider';
import { MAX_INT4 } from '../../platform/limits.ts';
import { findTokenUser } from '../authentication/find-token-user.ts';
import type { GrantContext } from './grants/issuer-grants.ts';
import { API_RESOURCE, allowedScopes } from './grants/issuer-resource.ts';
import { findGrantAccount, writeTokenGrant } from './grants/token-grant.ts';
import { parseRequestedAccount } from './grants/token-request-rules.ts';

/** Parameters of an authorization in addition to the standard ones. */
export const AUTHORIZATION_PARAMETERS = ['account', 'kc_action'] as const;

/**
 * Finds or creates the grant of an authorization. Consecutive authorizations of a session and client share a grant
 * while account and scopes stay the same. An authorization for another account gets a new grant (R-B2, R-B4).
 * @returns undefined before the user is signed in.
 * @throws access_denied when the user has no access to the requested account; invalid_request when the account is
 * malformed.
 */
export async function makeGrant(context: GrantContext, ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
  const { client, session, provider, params = {} } = ctx.oidc;
  const userId = session?.accountId;
  if (!client || userId === undefined) return undefined;
  const accountId = await findAccountId(context, userId, params);
  const scopes = allowedScopes(client).join(' ');
  const known = await findSessionGrant(context, ctx, accountId);
  if (known?.getResourceScope(API_RESOURCE) === scopes) return known;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: userId });
  grant.addOIDCScope('openid');
  grant.addResourceScope(API_RESOURCE, scopes);
  const grantId = await grant.save();
  if (accountId !== undefined) {
    await writeTokenGrant(context.database, { grantId, userId, accountId, ttlSec: context.policy.refreshTokenTtlSec });
  }
  return grant;
}

/**
 * Finds the last grant of the client in the session, so that `makeGrant` can reuse this grant. A new grant would
 * invalidate the tokens of the client's other browser tabs.
 * @returns undefined when the client has no grant in the session, or when the last grant is not for `accountId`.
 */
async function findSessionGrant(
  { database }: GrantContext,
  { oidc: { client, session, provider } }: KoaContextWithOIDC,
  accountId: number | undefined,
): Promise<Grant | undefined> {
  const grantId = client && session?.grantIdFor(client.clientId);
  if (!grantId || accountId === undefined) return undefined;
  return (await findGrantAccount(database, grantId)) === accountId ? provider.Grant.find(grantId) : undefined;
}

/**
 * @returns the requested account, else the account that `findTokenUser` chooses; undefined for a user without an
 * account, who may sign in to change the password but gets no token.
 */
async function findAccountId(
  { database, clock }: GrantContext,
  userId: string,
  params: Readonly<Record<string, unknown>>,
): Promise<number | undefined> {
  const requested = parseRequestedAccount(params);
  if (requested.kind === 'malformed')
    throw new errors.InvalidRequest(
      `the account id in ${requested.field} must be a whole number from 1 to ${MAX_INT4}`,
    );
  const requestedId = requested.kind === 'account' ? requested.accountId : undefined;
  const user = await findTokenUser(database, userId, requestedId, new Date(clock.nowMillis()));
  if (requestedId !== undefined && user?.accountId === undefined) {
    throw new errors.AccessDenied('the account does not exist, or the user has no access to it');
  }
  return user?.accountId;
}
