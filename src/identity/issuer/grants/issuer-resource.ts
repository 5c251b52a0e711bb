/**
 * The one OAuth resource for which all access tokens are issued. It covers the API, push and gRPC; the scopes of a
 * token decide where the token is accepted (R-B6).
 */
import type { Client, ResourceServer } from 'oidc-provider';
import { ALLOWED_SCOPES_MEMBER } from '../../clients/find-client.ts';
import { SIGNING_ALGORITHM } from '../../keys/signing-keys.ts';

/**
 * Identifier of the resource (RFC 8707). The audience of the access tokens is a different value: the setting
 * TOKEN_AUDIENCE.
 */
export const API_RESOURCE = 'urn:tidemark:api';

export interface ResourcePolicy {
  readonly audience: string;
  readonly accessTokenTtlSec: number;
}

/** @returns the scopes that a client may request (R-B6). */
export function allowedScopes(client: Client): readonly string[] {
  const scopes = (client as { readonly [member: string]: unknown })[ALLOWED_SCOPES_MEMBER];
  return typeof scopes === 'string' ? scopes.split(' ') : [];
}

/** @returns the scopes, audience, lifetime and format of the access tokens of `client` (R-B6). */
export function apiResource(client: Client, policy: ResourcePolicy): ResourceServer {
  return {
    scope: allowedScopes(client).join(' '),
    audience: policy.audience,
    accessTokenTTL: policy.accessTokenTtlSec,
    accessTokenFormat: 'jwt',
    jwt: { sign: { alg: SIGNING_ALGORITHM } },
  };
}
