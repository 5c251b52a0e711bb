/** Validates the registration of a client: refuses at once what the token issuer would refuse later. */

export interface ClientRegistration {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly grantTypes: readonly string[];
  /** Addresses a sign-in in a browser may return to. */
  readonly redirectUris: readonly string[];
  /** Addresses that the issuer may redirect to after a sign-out. */
  readonly logoutUris: readonly string[];
}

export const CLIENT_SCOPES = ['datahub-api', 'push-data'];
const GRANT_TYPES = [
  'password',
  'refresh_token',
  'authorization_code',
  'urn:ietf:params:oauth:grant-type:token-exchange',
];
/** RFC 6749 Appendix A.1, without the colon, which separates id and secret in HTTP Basic. */
const CLIENT_ID = /^[\x21-\x39\x3b-\x7e]+$/;

/** @returns an error message for the command line; undefined for a valid registration. */
export function findClientProblem(registration: ClientRegistration): string | undefined {
  const { clientId, scopes, grantTypes, redirectUris, logoutUris } = registration;
  if (!CLIENT_ID.test(clientId)) return `--client must be ASCII without spaces and colons, got ${clientId}`;
  if (scopes.some((scope) => !CLIENT_SCOPES.includes(scope)))
    return `--scope must be one of ${CLIENT_SCOPES.join(', ')}`;
  if (grantTypes.some((grant) => !GRANT_TYPES.includes(grant)))
    return `--grant must be one of ${GRANT_TYPES.join(', ')}`;
  if (grantTypes.includes('authorization_code') && redirectUris.length === 0) {
    return '--redirect-uri is required with the grant authorization_code';
  }
  const wrong = (address: string) => !isReturnAddress(address);
  const [redirect, logout] = [redirectUris.find(wrong), logoutUris.find(wrong)];
  if (redirect !== undefined) return `--redirect-uri ${ADDRESS_RULE}, got ${redirect}`;
  return logout === undefined ? undefined : `--logout-uri ${ADDRESS_RULE}, got ${logout}`;
}

const ADDRESS_RULE = 'must be an http or https URL without user name and fragment';

function isReturnAddress(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && /^https?:$/.test(url.protocol) && !address.includes('#') && url.username === '';
}
