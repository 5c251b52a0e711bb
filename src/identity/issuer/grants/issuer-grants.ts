/**
 * Determines the user, the account and the scopes of a token (R-B3, R-B4). oidc-provider implements the protocol:
 * client authentication, refresh, signing.
 */
import {
  type Account,
  type Client,
  errors,
  type KoaContextWithOIDC,
  type TokenEndpointGrantContext,
} from 'oidc-provider';
import type { Clock } from '../../../platform/clock.ts';
import type { Queryable } from '../../../platform/database/database.ts';
import { DomainError } from '../../../platform/errors.ts';
import { clientNetwork } from '../../../platform/http/client-network.ts';
import { MAX_INT4 } from '../../../platform/limits.ts';
import { findTokenUser, type TokenUser } from '../../authentication/find-token-user.ts';
import type { Actor } from '../../caller/caller.ts';
import { findProfile } from '../../directory/find-profile.ts';
import { signIn } from '../../passwords/sign-in.ts';
import type { SignInPolicy } from '../../passwords/sign-in-sources.ts';
import { failCapturedResponse } from '../captured-response.ts';
import { API_RESOURCE, allowedScopes, apiResource, type ResourcePolicy } from './issuer-resource.ts';
import { findGrantAccount, writeTokenGrant } from './token-grant.ts';
import { OPENID, type PlannedScopes, parseRequestedAccount, planScopes, toScope } from './token-request-rules.ts';

export interface GrantPolicy extends SignInPolicy, ResourcePolicy {
  readonly refreshTokenTtlSec: number;
}

export interface GrantContext {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly policy: GrantPolicy;
}

/** The user and account a token is issued for. */
export interface TokenHolder extends TokenUser {
  readonly accountId: number;
  /** The ADMIN who impersonates the user; absent without impersonation (R-B14). */
  readonly actor?: Actor | undefined;
}

interface PasswordForm {
  readonly username?: string;
  readonly password?: string;
}

export const PASSWORD_GRANT_FIELDS = ['username', 'password', 'scope', 'account', 'acr_values'] as const;

const WRONG_CREDENTIALS = 'Invalid user credentials';
const LOCKED = 'Account disabled';
/** Keycloak's error text for a temporary password; clients recognize the error by this text (R-B10). */
const NOT_SET_UP = 'Account is not fully set up';

/**
 * Handles `grant_type=password`: signs the user in and issues the tokens (R-B3). A `DomainError` of `signIn` is
 * answered by the app that mounts the issuer.
 * @throws invalid_request without a user name or password; invalid_grant for wrong credentials or a temporary password;
 *   errors of `decideScopes` and `getHolder`.
 */
export async function answerPasswordGrant(
  context: GrantContext,
  ctx: TokenEndpointGrantContext<PasswordForm>,
): Promise<void> {
  const { username, password } = ctx.oidc.params;
  if (!username || !password) throw new errors.InvalidRequest('username and password are required');
  const { granted, refused } = decideScopes(ctx.oidc.client, ctx.oidc.params.scope);
  const isOpenid = refused.includes(OPENID);
  const network = clientNetwork(ctx.req, context.policy.proxyHops);
  const result = await signIn(
    context.database,
    { userName: username, password, network },
    context.policy,
    context.clock,
  ).catch((error: unknown) => {
    if (!(error instanceof DomainError)) throw error;
    failCapturedResponse(ctx.res, error);
  });
  if (!result) return;
  if (result.kind === 'wrong_credentials') throw invalidGrant(WRONG_CREDENTIALS);
  if (result.kind === 'must_change_password') throw invalidGrant(NOT_SET_UP);
  const holder = await getHolder(context, ctx, result.userId, undefined);
  const { passwordFingerprint } = result;
  const tokens = await issueTokens(context, ctx, { ...holder, passwordFingerprint }, granted.join(' '), isOpenid);
  ctx.body = { ...tokens, ...nameRefused(refused.filter((scope) => scope !== OPENID)) };
}

/**
 * oidc-provider's findAccount (R-B4): reads the user.
 *
 * - Without a `grantId`: returns undefined when the user does not exist or is locked.
 * - With a `grantId` (code exchange, refresh): returns undefined when the grant does not exist. If it exists, calls
 *   `getHolder`, which checks the user and chooses the account of the token, and throws its errors.
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
  return toAccount(context, userId);
}

/** Reads the user as the `Account` that oidc-provider needs. ID tokens and userinfo have the same claims. */
async function toAccount({ database, clock }: GrantContext, userId: string): Promise<Account | undefined> {
  const profile = await findProfile(database, userId, new Date(clock.nowMillis()));
  return profile && { accountId: userId, claims: () => ({ ...profile }) };
}

/**
 * Returns the claims that the service adds to the standard claims of an access token (R-B4).
 * @throws {Error} when `getHolder` was not called in the request.
 */
export function tokenClaims(ctx: KoaContextWithOIDC): Readonly<Record<string, unknown>> {
  const holder = ctx.state.tokenHolder as TokenHolder | undefined;
  if (!holder) throw new Error('an access token must have a user and an account; call getHolder first');
  const { actor } = holder;
  return {
    account: holder.accountId,
    roles: [holder.role],
    preferred_username: holder.userName,
    ...(actor && { act: { sub: actor.userId, preferred_username: actor.userName } }),
  };
}

/**
 * Decides the scopes of a token (`planScopes`).
 * @throws invalid_scope when the client is allowed none of the requested scopes.
 */
export function decideScopes(client: Client, requested: string | undefined): PlannedScopes {
  const allowed = allowedScopes(client);
  const scopes = planScopes(requested, allowed);
  if (scopes.granted.length === 0) {
    throw new errors.InvalidScope(`scope must contain at least one of ${allowed.join(', ')}`, requested ?? '');
  }
  return scopes;
}

/**
 * Returns `refused_scope` for a token response: the refused scopes, separated by spaces; {} when no scope is refused.
 * @param refused requested scopes that the token does not have.
 */
export function nameRefused(refused: readonly string[]): { readonly refused_scope?: string } {
  return refused.length === 0 ? {} : { refused_scope: refused.join(' ') };
}

interface TokenAnswer {
  readonly scope?: string;
  readonly refused_scope?: string;
}

/**
 * Middleware that writes the scopes in a token response with the same names as in the request. Clients such as
 * requests-oauthlib require these names. Mount the middleware before the provider's routes.
 */
export async function answerScopeNames(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  await next();
  const { scope, refused_scope: refused = '' } = (ctx.body ?? {}) as TokenAnswer;
  const requested: unknown = ctx.oidc?.body?.scope;
  if (ctx.status !== 200 || scope === undefined || typeof requested !== 'string') return;
  const granted = new Set(scope.split(' '));
  if (!refused.split(' ').includes(OPENID)) granted.add(OPENID);
  const names = requested.split(/\s+/).filter((name) => granted.has(toScope(name)));
  if (names.length > 0) ctx.body = { ...(ctx.body as object), scope: names.join(' ') };
}

/**
 * Finds the user and the account for which a token is issued (R-B4). The account is the requested account, else
 * `keptAccountId`, else the choice of `findTokenUser`.
 * @param keptAccountId account of the sign-in whose code or refresh token is used; undefined if neither is used.
 * @throws invalid_request when the requested account is not a number.
 * @throws invalid_grant when the user is unknown or locked, has no access to the account, or is in no account. With
 *   `actor`, invalid_grant is also thrown when the user is an ADMIN. Without `actor`, invalid_grant is also thrown when
 *   the user's password is temporary.
 */
export async function getHolder(
  { database, clock }: GrantContext,
  ctx: KoaContextWithOIDC,
  userId: string,
  keptAccountId: number | undefined,
  actor?: Actor,
): Promise<TokenHolder> {
  const requested = parseRequestedAccount(ctx.oidc.body ?? {});
  if (requested.kind === 'malformed')
    throw new errors.InvalidRequest(
      `the account id in ${requested.field} must be a whole number from 1 to ${MAX_INT4}`,
    );
  const accountId = requested.kind === 'account' ? requested.accountId : keptAccountId;
  const user = await findTokenUser(database, userId, accountId, new Date(clock.nowMillis()));
  if (!user) throw invalidGrant(WRONG_CREDENTIALS);
  if (user.isLocked) throw invalidGrant(LOCKED);
  // An ADMIN cannot be impersonated. The actor is an ADMIN, so actors cannot impersonate themselves either.
  if (actor && user.role === 'ADMIN') throw invalidGrant('an ADMIN cannot be impersonated');
  if (user.accountId === undefined) throw invalidGrant(noAccess(user, accountId));
  if (user.mustChangePassword && !actor) throw invalidGrant(NOT_SET_UP);
  const holder: TokenHolder = { ...user, accountId: user.accountId, actor };
  // Stores the holder for `tokenClaims`. oidc-provider calls `tokenClaims` later in the same request, when it signs the
  // token.
  ctx.state.tokenHolder = holder;
  return holder;
}

/** @param accountId undefined when neither the request nor `keptAccountId` names an account. */
function noAccess({ role }: TokenUser, accountId: number | undefined): string {
  if (accountId !== undefined) return `Account ${accountId} does not exist, or the user has no access to it`;
  if (role === 'ADMIN')
    return 'The user is not a member of any account; the form field `account` must contain the id of an account';
  return 'The user is not a member of any account; ask an ADMIN to add the user to an account';
}

async function issueTokens(
  context: GrantContext,
  ctx: TokenEndpointGrantContext<PasswordForm>,
  holder: TokenHolder & { readonly passwordFingerprint: string },
  scope: string,
  isOpenid: boolean,
): Promise<Readonly<Record<string, unknown>>> {
  const { client, provider } = ctx.oidc;
  const { grantId, token, tokenType, expiresIn } = await issueAccessToken(context, ctx, holder, scope, isOpenid);
  const { userId, accountId, passwordFingerprint } = holder;
  const { refreshTokenTtlSec: ttlSec } = context.policy;
  const isGranted = await writeTokenGrant(context.database, {
    grantId,
    userId,
    accountId,
    ttlSec,
    passwordFingerprint,
  });
  if (!isGranted) throw invalidGrant(WRONG_CREDENTIALS);
  const source = {
    client,
    accountId: userId,
    grantId,
    gty: 'password',
    scope: isOpenid ? `${OPENID} ${scope}` : scope,
  };
  const refreshToken = client.grantTypeAllowed('refresh_token')
    ? await new provider.RefreshToken({ ...source, resource: API_RESOURCE }).save()
    : undefined;
  return {
    access_token: token,
    token_type: tokenType,
    expires_in: expiresIn,
    ...(refreshToken && { refresh_token: refreshToken }),
    ...(isOpenid && { id_token: await issueIdToken(context, ctx, userId) }),
    scope,
  };
}

async function issueIdToken(context: GrantContext, ctx: TokenEndpointGrantContext<object>, userId: string) {
  const profile = await findProfile(context.database, userId, new Date(context.clock.nowMillis()));
  const idToken = new ctx.oidc.provider.IdToken({ ...profile }, { ctx });
  return Object.assign(idToken, { scope: OPENID }).issue({ use: 'idtoken' });
}

/** Creates a grant, and a signed access token of that grant. `expiresIn` of the result is in seconds. */
export async function issueAccessToken(
  { policy }: GrantContext,
  ctx: TokenEndpointGrantContext<object>,
  holder: TokenHolder,
  scope: string,
  isOpenid = false,
) {
  const { client, provider } = ctx.oidc;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: holder.userId });
  grant.addResourceScope(API_RESOURCE, scope);
  // With this scope in the grant, the answer to a later refresh contains an ID token too.
  if (isOpenid) grant.addOIDCScope(OPENID);
  const grantId = await grant.save();
  const accessToken = new provider.AccessToken({ client, accountId: holder.userId, grantId, gty: 'password', scope });
  accessToken.resourceServer = new provider.ResourceServer(API_RESOURCE, apiResource(client, policy));
  const token = await accessToken.save();
  return { grantId, token, tokenType: accessToken.tokenType, expiresIn: accessToken.expiration };
}

/** @returns the OAuth error `invalid_grant` (RFC 6749 §5.2). */
export function invalidGrant(description: string): errors.CustomOIDCProviderError {
  return new errors.CustomOIDCProviderError('invalid_grant', description);
}
