/** The registration of an OAuth client, its validation, and the default grants. */

export interface ClientRegistration {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly grantTypes: readonly string[];
  /** URLs that the issuer may redirect to after a sign-in. */
  readonly redirectUris: readonly string[];
  /** URLs that the issuer may redirect to after a sign-out. */
  readonly logoutUris: readonly string[];
}

export interface ClientProblem {
  readonly member: keyof ClientRegistration;
  /**
   * The violated rule, such as `must be …`. An error message puts the name of the JSON member or command-line option
   * before the rule.
   */
  readonly rule: string;
}

export const CLIENT_SCOPES = ['datahub-api', 'push-data'] as const;
export const GRANT_TYPES = [
  'password',
  'refresh_token',
  'authorization_code',
  'urn:ietf:params:oauth:grant-type:token-exchange',
] as const;
/** Visible ASCII without the colon, because a colon separates id and secret in HTTP Basic. */
const CLIENT_ID = /^[\x21-\x39\x3b-\x7e]+$/;
const ADDRESS_RULE = 'must be an http or https URL without a user name or fragment';

/** @returns the first problem; undefined for a valid registration. */
export function findClientProblem(registration: ClientRegistration): ClientProblem | undefined {
  const { clientId, scopes, grantTypes, redirectUris, logoutUris } = registration;
  if (!CLIENT_ID.test(clientId)) {
    return {
      member: 'clientId',
      rule: `must be ASCII without spaces, control characters or colons, got ${JSON.stringify(clientId)}`,
    };
  }
  const scope = scopes.find((name) => !CLIENT_SCOPES.some((known) => known === name));
  if (scope !== undefined || scopes.length === 0) {
    return { member: 'scopes', rule: `must be one of ${CLIENT_SCOPES.join(', ')}, got ${scope ?? 'none'}` };
  }
  const grant = grantTypes.find((name) => !GRANT_TYPES.some((known) => known === name));
  if (grant !== undefined || grantTypes.length === 0) {
    return { member: 'grantTypes', rule: `must be one of ${GRANT_TYPES.join(', ')}, got ${grant ?? 'none'}` };
  }
  if (grantTypes.includes('authorization_code') && redirectUris.length === 0) {
    return { member: 'redirectUris', rule: 'is required with the grant authorization_code' };
  }
  return findAddressProblem('redirectUris', redirectUris) ?? findAddressProblem('logoutUris', logoutUris);
}

/** @returns the default grants of a new client. @param isPublic whether the client has no secret. */
export function defaultGrants(isPublic: boolean, redirectUris: readonly string[]): readonly string[] {
  const signIn = isPublic ? [] : ['password'];
  return [...signIn, 'refresh_token', ...(redirectUris.length > 0 ? ['authorization_code'] : [])];
}

function findAddressProblem(
  member: 'redirectUris' | 'logoutUris',
  addresses: readonly string[],
): ClientProblem | undefined {
  const wrong = addresses.find((address) => !isReturnAddress(address));
  return wrong === undefined ? undefined : { member, rule: `${ADDRESS_RULE}, got ${JSON.stringify(wrong)}` };
}

function isReturnAddress(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && /^https?:$/.test(url.protocol) && !address.includes('#') && url.username === '';
}
