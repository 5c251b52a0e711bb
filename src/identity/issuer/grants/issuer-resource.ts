/** The one resource tokens are for: API, push and gRPC together, told apart by scope (R-B6). */
import type { Client, ResourceServer } from 'oidc-provider';
import { ALLOWED_SCOPES_MEMBER } from '../../clients/find-client.ts';
import { SIGNING_ALGORITHM } from '../../keys/signing-keys.ts';

/** Identifier of the resource (RFC 8707). The audience of its tokens is a setting, not this. */
export const API_RESOURCE = 'urn:tidemark:api';

export interface ResourcePolicy {
  readonly audience: string;
  readonly accessTokenTtlSec: number;
}

/** Scopes a client may ask for. */
export function allowedScopes(client: Client): readonly string[] {
  const scopes = (client as { readonly [member: string]: unknown })[ALLOWED_SCOPES_MEMBER];
  return typeof scopes === 'string' ? scopes.split(' ') : [];
}

/** How access tokens for the resource look when given to `client`. */
export function apiResource(client: Client, policy: ResourcePolicy): ResourceServer {
  return {
    scope: allowedScopes(client).join(' '),
    audience: policy.audience,
    accessTokenTTL: policy.accessTokenTtlSec,
    accessTokenFormat: 'jwt',
    jwt: { sign: { alg: SIGNING_ALGORITHM } },
  };
}
