/** Registered clients, in the words of oidc-provider. */
import type { AdapterPayload } from 'oidc-provider';
import type { Queryable } from '../platform/database.ts';
import { isStorableText } from '../platform/storable-text.ts';

/** Name of the client member that holds the scopes it may ask for, separated by spaces. */
export const ALLOWED_SCOPES_MEMBER = 'allowed_scopes';

interface ClientRow {
  readonly client_id: string;
  readonly secret_hash: string;
  readonly allowed_scopes: readonly string[];
  readonly grant_types: readonly string[];
}

/** The client's metadata, `client_secret` being the hash; undefined when there is no such client. */
export async function findClientMetadata(database: Queryable, clientId: string): Promise<AdapterPayload | undefined> {
  if (!isStorableText(clientId)) return undefined;
  const { rows } = await database.query<ClientRow>(
    'select client_id, secret_hash, allowed_scopes, grant_types from oidc_client where client_id = $1',
    [clientId],
  );
  const [client] = rows;
  return (
    client && {
      client_id: client.client_id,
      client_secret: client.secret_hash,
      grant_types: client.grant_types,
      // Form fields and HTTP Basic are both accepted whichever of the two is named (R-B3).
      token_endpoint_auth_method: 'client_secret_basic',
      redirect_uris: [],
      response_types: [],
      [ALLOWED_SCOPES_MEMBER]: client.allowed_scopes.join(' '),
    }
  );
}
