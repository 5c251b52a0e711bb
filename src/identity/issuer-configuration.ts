/**
 * oidc-provider, configured: Keycloak's paths, which shipped clients know (§5); what is off and why. Every default
 * that would print a notice is replaced, so nothing but the log writes.
 */
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { ALLOWED_SCOPES_MEMBER } from './find-client.ts';
import { findTokenAccount, type GrantContext, tokenClaims } from './issuer-grants.ts';
import { API_RESOURCE, apiResource } from './issuer-resource.ts';
import { createPayloadAdapter } from './payload-adapter.ts';
import type { IssuerKeys } from './signing-keys.ts';
import { KNOWN_SCOPES } from './token-request-rules.ts';

const PROTOCOL = '/protocol/openid-connect';
const SHORT_TTL_SEC = 600;

const ROUTES: NonNullable<Configuration['routes']> = {
  authorization: `${PROTOCOL}/auth`,
  token: `${PROTOCOL}/token`,
  jwks: `${PROTOCOL}/certs`,
  userinfo: `${PROTOCOL}/userinfo`,
  end_session: `${PROTOCOL}/logout`,
  revocation: `${PROTOCOL}/revoke`,
};

/** The whole configuration of the provider. */
export function issuerConfiguration(context: GrantContext, keys: IssuerKeys): Configuration {
  return {
    adapter: (model: string) => createPayloadAdapter(context.database, model),
    jwks: keys.jwks,
    cookies: { keys: [...keys.cookieKeys] },
    routes: ROUTES,
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post'],
    scopes: ['openid', ...KNOWN_SCOPES],
    extraClientMetadata: { properties: [ALLOWED_SCOPES_MEMBER] },
    features: features(context),
    ttl: timesToLive(context),
    findAccount: (ctx, userId, token) => findTokenAccount(context, ctx, userId, token?.grantId),
    extraTokenClaims: (ctx) => tokenClaims(ctx),
    // A confidential client authenticates on every refresh; rotating would only punish a lost answer (R-K3).
    rotateRefreshToken: (ctx) => ctx.oidc.client?.clientAuthMethod === 'none',
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    clientBasedCORS: () => false,
    renderError,
  };
}

function features({ policy }: GrantContext): Configuration['features'] {
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
    // The pages of sign-out come with the other pages; until then there is no session to end.
    rpInitiatedLogout: { enabled: false },
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
    Interaction: SHORT_TTL_SEC,
    AuthorizationCode: 60,
  };
}

function renderError(ctx: KoaContextWithOIDC, out: object): void {
  ctx.type = 'json';
  ctx.body = out;
}
