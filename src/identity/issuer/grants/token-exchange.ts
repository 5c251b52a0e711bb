/**
 * Impersonation by token exchange (R-B14, RFC 8693): an ADMIN exchanges their own token for an access token of another
 * user. The claim `act` of the new token names the ADMIN. There is no refresh token: the impersonation ends with the
 * access token (§5).
 */
import { errors, type TokenEndpointGrantContext } from 'oidc-provider';
import type { Queryable } from '../../../platform/database/database.ts';
import { isStorableText } from '../../../platform/database/storable-text.ts';
import { DomainError } from '../../../platform/errors.ts';
import { findTokenUser } from '../../authentication/find-token-user.ts';
import type { VerifiedToken, VerifyToken } from '../../authentication/verify-token.ts';
import type { Actor } from '../../caller/caller.ts';
import type { GrantContext } from './issuer-grants.ts';
import { decideScopes, getHolder, invalidGrant, issueAccessToken, nameRefused } from './issuer-grants.ts';

export const TOKEN_EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';

export const TOKEN_EXCHANGE_FIELDS = [
  'subject_token',
  'subject_token_type',
  'requested_subject',
  'requested_token_type',
  'scope',
  'account',
  'acr_values',
] as const;

interface ExchangeForm {
  readonly subject_token?: string;
  readonly subject_token_type?: string;
  /** Id or name of the user to impersonate. Keycloak defines this parameter; RFC 8693 does not. */
  readonly requested_subject?: string;
  readonly requested_token_type?: string;
}

/** An impersonation: `actor` acts as `user` in an account. */
export interface Impersonation {
  readonly actor: Actor;
  readonly user: Actor;
  readonly accountId: number;
  readonly requestId: string;
}

export interface ExchangeContext extends GrantContext {
  readonly verifier: VerifyToken;
  /** Called before the token is issued; when it throws, no token is issued. */
  readonly onImpersonation: (impersonation: Impersonation) => Promise<void>;
}

/**
 * Handles `grant_type=…:token-exchange` (R-B14).
 * @throws invalid_request for missing or wrong parameters; invalid_scope from `decideScopes` and `narrowScopes`;
 * invalid_grant when the subject token is refused, the actor is not an ADMIN, or the user cannot be impersonated;
 * {DomainError} dependency_unavailable when the issuer's keys cannot be read.
 */
export async function answerTokenExchange(
  context: ExchangeContext,
  ctx: TokenEndpointGrantContext<ExchangeForm>,
): Promise<void> {
  const { subject_token: token, requested_subject: requestedSubject } = ctx.oidc.params;
  assertTypes(ctx.oidc.params);
  if (!token || !requestedSubject) throw new errors.InvalidRequest('subject_token and requested_subject are required');
  const verified = await verifySubject(context, token);
  const planned = decideScopes(ctx.oidc.client, ctx.oidc.params.scope);
  const granted = narrowScopes(planned.granted, verified.scopes);
  const scope = granted.join(' ');
  const actor = await getActor(context, verified);
  const userId = await findUserId(context.database, requestedSubject);
  if (userId === undefined) throw invalidGrant('requested_subject must be the id or the name of a user');
  const holder = await getHolder(context, ctx, userId, undefined, actor);
  const { accountId, userName } = holder;
  const requestId = ctx.get('x-request-id');
  await context.onImpersonation({ actor, user: { userId, userName }, accountId, requestId });
  const { token: accessToken, tokenType, expiresIn } = await issueAccessToken(context, ctx, holder, scope);
  ctx.body = {
    access_token: accessToken,
    issued_token_type: ACCESS_TOKEN_TYPE,
    token_type: tokenType,
    expires_in: expiresIn,
    scope,
    ...(ctx.oidc.params.scope &&
      nameRefused([...planned.granted.filter((name) => !granted.includes(name)), ...planned.refused])),
  };
}

function assertTypes({ subject_token_type, requested_token_type }: ExchangeForm): void {
  for (const [name, type] of Object.entries({ subject_token_type, requested_token_type })) {
    if (type && type !== ACCESS_TOKEN_TYPE) throw new errors.InvalidRequest(`${name} must be ${ACCESS_TOKEN_TYPE}`);
  }
}

async function verifySubject({ verifier }: ExchangeContext, token: string): Promise<VerifiedToken> {
  const verified = await verifier(token).catch((error: unknown) => {
    throw error instanceof DomainError && error.code === 'invalid_token' ? invalidGrant(error.message) : error;
  });
  if (verified.actorSubject !== undefined) throw invalidGrant('the subject token must not come from an impersonation');
  return verified;
}

/** Drops each scope that the subject token does not have. @throws invalid_scope when no scope is left. */
function narrowScopes(scopes: readonly string[], given: ReadonlySet<string>): readonly string[] {
  const kept = scopes.filter((name) => given.has(name));
  if (kept.length > 0) return kept;
  const rule = `the subject token must have at least one of the scopes ${scopes.join(', ')}`;
  throw new errors.InvalidScope(rule, scopes.join(' '));
}

async function getActor({ database, clock }: ExchangeContext, verified: VerifiedToken): Promise<Actor> {
  const user = await findTokenUser(database, verified.subject, undefined, new Date(clock.nowMillis()));
  if (!user || user.isLocked) throw invalidGrant('the user of the subject token is locked or does not exist');
  if ((verified.issuedSec ?? 0) < user.tokensValidFromSec) throw invalidGrant('the subject token was revoked');
  if (user.role !== 'ADMIN') throw invalidGrant('the user of the subject token must have the role ADMIN');
  return { userId: user.userId, userName: user.userName };
}

async function findUserId(database: Queryable, idOrName: string): Promise<string | undefined> {
  if (!isStorableText(idOrName)) return undefined;
  const { rows } = await database.query<{ id: string }>(
    'select id from app_user where id = $1 or lower(user_name) = lower($1) order by id = $1 desc limit 1',
    [idOrName],
  );
  return rows[0]?.id;
}
