/** The client the issuer's own pages sign in through: public, with codes that nobody can turn into a token. */
import type { AdapterPayload } from 'oidc-provider';
import { ACCOUNT_CLIENT_ID, SIGNED_IN_PATH } from '../directory/embedded-directory.ts';
import { ALLOWED_SCOPES_MEMBER } from './find-client.ts';

/** @param returnUrls addresses a change of the password may return to, besides the issuer's own page. */
export function ownClient(issuer: string, returnUrls: readonly string[]): AdapterPayload {
  return {
    client_id: ACCOUNT_CLIENT_ID,
    client_name: 'Tidemark',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'],
    response_types: ['code'],
    redirect_uris: [`${issuer}${SIGNED_IN_PATH}`, ...returnUrls],
    [ALLOWED_SCOPES_MEMBER]: '',
  };
}
