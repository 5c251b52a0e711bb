/**
 * What a token is issued for: the password grant, and the account that a refresh keeps (R-B3, R-B4). oidc-provider does
 * the protocol (client authentication, refresh, signing); here is what it cannot know.
 */
import { type Account, errors, type KoaContextWithOIDC, type TokenEndpointGrantContext } from 'oidc-provider';
import type { Clock } from '../platform/clock.ts';
import type { Queryable } from '../platform/database.ts';
import { findTokenUser, type TokenUser } from './find-token-user.ts';
import { API_RESOURCE, allowedScopes, apiResource, type ResourcePolicy } from './issuer-resource.ts';
import { type SignInPolicy, signIn } from './sign-in.ts';
import { findGrantAccount, writeTokenGrant } from './token-grant.ts';
import { parseRequestedAccount, planScopes } from './token-request-rules.ts';

export interface GrantPolicy extends SignInPolicy, ResourcePolicy {
  readonly refreshTokenTtlSec: number;
}

export interface GrantContext {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly policy: GrantPolicy;
}

/** A user who may have a token, and the account it names. */
interface TokenHolder extends TokenUser {
  readonly accountId: number;
}

interface PasswordForm {
  readonly username?: string;
  readonly password?: string;
}

export const PASSWORD_GRANT_FIELDS = ['username', 'password', 'scope', 'account', 'acr_values'] as const;

// Decided once per request, needed again when the token is signed.
const holders = new WeakMap<object, TokenHolder>();

const WRONG_CREDENTIALS = 'Invalid user credentials';
const LOCKED = 'Account disabled';

/** Handles `grant_type=password`: signs in, decides account and scopes, issues both tokens. */
export async function answerPasswordGrant(
  context: GrantContext,
  ctx: TokenEndpointGrantContext<PasswordForm>,
): Promise<void> {
  const { username, password } = ctx.oidc.params;
  if (!username || !password) throw new errors.InvalidRequest('username and password are required');
  const scope = decideScope(ctx);
  const result = await signIn(context.database, { userName: username, password }, context.policy, context.clock);
  if (result.kind === 'wrong_credentials') throw invalidGrant(WRONG_CREDENTIALS);
  const holder = await getHolder(context, ctx, result.userId, undefined);
  ctx.body = await issueTokens(context, ctx, holder, scope);
}

/**
 * The user behind a token being refreshed. A refresh keeps the account of the sign-in unless it names another; either
 * way the membership must still hold and the user must not be locked.
 * @throws invalid_grant
 */
export async function findTokenAccount(
  context: GrantContext,
  ctx: KoaContextWithOIDC,
  userId: string,
  grantId: string | undefined,
): Promise<Account | undefined> {
  if (grantId) {
    const keptAccountId = await findGrantAccount(context.database, grantId);
    if (keptAccountId === undefined) return undefined;
    await getHolder(context, ctx, userId, keptAccountId);
  }
  return { accountId: userId, claims: () => ({ sub: userId }) };
}

/** Claims of an access token beyond the standard ones (R-B4). */
export function tokenClaims(ctx: object): Readonly<Record<string, unknown>> {
  const holder = holders.get(ctx);
  if (!holder) throw new Error('an access token is being issued without a user and an account');
  return { account: holder.accountId, roles: [holder.role], preferred_username: holder.userName };
}

function decideScope(ctx: TokenEndpointGrantContext<PasswordForm>): string {
  const { client, params } = ctx.oidc;
  const allowed = allowedScopes(client);
  const scopes = planScopes(params.scope, allowed);
  if (scopes.length === 0) {
    throw new errors.InvalidScope(`the client may ask for ${allowed.join(', ')}`, params.scope ?? '');
  }
  return scopes.join(' ');
}

async function getHolder(
  { database, clock }: GrantContext,
  ctx: KoaContextWithOIDC,
  userId: string,
  keptAccountId: number | undefined,
): Promise<TokenHolder> {
  const requested = parseRequestedAccount(ctx.oidc.body ?? {});
  if (requested.kind === 'malformed') throw new errors.InvalidRequest(`${requested.field} must name an account number`);
  const accountId = requested.kind === 'account' ? requested.accountId : keptAccountId;
  const user = await findTokenUser(database, userId, accountId, new Date(clock.nowMillis()));
  if (!user) throw invalidGrant(WRONG_CREDENTIALS);
  if (user.isLocked) throw invalidGrant(LOCKED);
  if (user.accountId === undefined) throw invalidGrant('The user has no access to the account');
  const holder = { ...user, accountId: user.accountId };
  holders.set(ctx, holder);
  return holder;
}

async function issueTokens(
  { database, policy }: GrantContext,
  ctx: TokenEndpointGrantContext<PasswordForm>,
  holder: TokenHolder,
  scope: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { client, provider } = ctx.oidc;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: holder.userId });
  grant.addResourceScope(API_RESOURCE, scope);
  const grantId = await grant.save();
  const { userId, accountId } = holder;
  await writeTokenGrant(database, { grantId, userId, accountId, ttlSec: policy.refreshTokenTtlSec });
  const source = { client, accountId: holder.userId, grantId, gty: 'password', scope };
  const accessToken = new provider.AccessToken(source);
  accessToken.resourceServer = new provider.ResourceServer(API_RESOURCE, apiResource(client, policy));
  const token = await accessToken.save();
  const refreshToken = client.grantTypeAllowed('refresh_token')
    ? await new provider.RefreshToken({ ...source, resource: API_RESOURCE }).save()
    : undefined;
  return {
    access_token: token,
    token_type: accessToken.tokenType,
    expires_in: accessToken.expiration,
    ...(refreshToken && { refresh_token: refreshToken }),
    scope,
  };
}

function invalidGrant(description: string): errors.CustomOIDCProviderError {
  return new errors.CustomOIDCProviderError('invalid_grant', description);
}
