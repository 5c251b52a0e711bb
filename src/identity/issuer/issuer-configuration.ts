/**
 * Configuration of oidc-provider. The paths are those of Keycloak, because shipped clients use them (§5). Sets each
 * option whose default makes oidc-provider print a notice.
 */
import type { Configuration } from 'oidc-provider';
import { ALLOWED_SCOPES_MEMBER, type FindClient, PREVIOUS_SECRET_MEMBER } from '../clients/find-client.ts';
import type { IssuerKeys } from '../keys/signing-keys.ts';
import { showError, showSignedOut, showSignOut } from '../pages/provider-pages.ts';
import { findTokenAccount, type GrantContext, tokenClaims } from './grants/issuer-grants.ts';
import { API_RESOURCE, apiResource } from './grants/issuer-resource.ts';
import { KNOWN_SCOPES } from './grants/token-request-rules.ts';
import { createInteractionPolicy } from './interaction-policy.ts';
import { AUTHORIZATION_PARAMETERS, makeGrant } from './issuer-authorization.ts';
import { createPayloadAdapter } from './payload-adapter.ts';

const PROTOCOL = '/protocol/openid-connect';
/** A page may stay open while the user looks for a password or waits for an email. */
const INTERACTION_TTL_SEC = 1800;
const COOKIE = { httpOnly: true, sameSite: 'lax', signed: true } as const;
const PROFILE_CLAIMS = [
  ...['preferred_username', 'name', 'given_name', 'family_name', 'nickname', 'email', 'locale', 'roles'],
];

const ROUTES: NonNullable<Configuration['routes']> = {
  authorization: `${PROTOCOL}/auth`,
  token: `${PROTOCOL}/token`,
  jwks: `${PROTOCOL}/certs`,
  userinfo: `${PROTOCOL}/userinfo`,
  end_session: `${PROTOCOL}/logout`,
  revocation: `${PROTOCOL}/revoke`,
};

export interface IssuerContext extends GrantContext {
  /** URL of the issuer: the value of the claim `iss`. */
  readonly issuer: string;
  readonly findClient: FindClient;
}

/** @returns the complete configuration; `keys` sign tokens and cookies. */
export function issuerConfiguration(context: IssuerContext, keys: IssuerKeys): Configuration {
  return {
    adapter: (model: string) => createPayloadAdapter(context.database, model, context.findClient),
    jwks: keys.jwks,
    cookies: { keys: [...keys.cookieKeys], long: COOKIE, short: COOKIE },
    routes: ROUTES,
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    scopes: ['openid', ...KNOWN_SCOPES],
    claims: { openid: ['sub', ...PROFILE_CLAIMS] },
    extraParams: [...AUTHORIZATION_PARAMETERS],
    interactions: {
      policy: createInteractionPolicy(context),
      url: (_ctx, { uid }) => `${context.issuer}/interaction/${uid}`,
    },
    loadExistingGrant: (ctx) => makeGrant(context, ctx),
    extraClientMetadata: { properties: [ALLOWED_SCOPES_MEMBER, PREVIOUS_SECRET_MEMBER] },
    features: features(context),
    ttl: timesToLive(context),
    findAccount: (ctx, userId, token) => findTokenAccount(context, ctx, userId, token?.grantId),
    extraTokenClaims: (ctx) => tokenClaims(ctx),
    // Rotates the refresh tokens of public clients only. A confidential client authenticates on every refresh. With
    // rotation, one lost answer would end its session (R-K3).
    rotateRefreshToken: (ctx) => ctx.oidc.client?.clientAuthMethod === 'none',
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    // A page may request tokens for a public client when the page's origin is the origin of one of the client's
    // redirect URIs. A page of the issuer's origin, such as /docs, may request tokens for every client.
    clientBasedCORS: (_ctx, origin, client) =>
      origin === new URL(context.issuer).origin ||
      (client.clientAuthMethod === 'none' &&
        (client.redirectUris ?? []).some((address) => URL.parse(address)?.origin === origin)),
    renderError: showError,
  };
}

function features({ policy }: GrantContext): Configuration['features'] {
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
    rpInitiatedLogout: { enabled: true, logoutSource: showSignOut, postLogoutSuccessSource: showSignedOut },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => API_RESOURCE,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, _resource, client) => apiResource(client, policy),
    },
  };
}

function timesToLive({ policy }: GrantContext): Configuration['ttl'] {
  return {
    AccessToken: policy.accessTokenTtlSec,
    RefreshToken: policy.refreshTokenTtlSec,
    Grant: policy.refreshTokenTtlSec,
    Session: policy.refreshTokenTtlSec,
    IdToken: policy.accessTokenTtlSec,
    Interaction: INTERACTION_TTL_SEC,
    AuthorizationCode: 60,
  };
}
