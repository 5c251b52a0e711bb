/** Reads registered clients and converts them to the client metadata that oidc-provider expects. */
import type { AdapterPayload } from 'oidc-provider';
import type { Queryable } from '../../platform/database/database.ts';
import { isStorableText } from '../../platform/database/storable-text.ts';

/** Metadata member with the scopes a client may request, separated by spaces. */
export const ALLOWED_SCOPES_MEMBER = 'allowed_scopes';

/** Metadata member with the hash of the previous secret; absent when the client has no valid previous secret. */
export const PREVIOUS_SECRET_MEMBER = 'previous_secret_hash';

/** Id of the console's public client, which a migration creates. */
export const CONSOLE_CLIENT_ID = 'tidemark-console';

/** @returns the metadata of a client; undefined when the client does not exist or is disabled. */
export type FindClient = (clientId: string) => Promise<AdapterPayload | undefined>;

/**
 * Creates a function that finds registered clients and `ownClient`. The console's client also gets the redirect URIs of
 * this installation's console.
 * @param ownClient client of the issuer's own pages. The database does not contain this client.
 * @param consoleUrl base URL of the console, without `/console` and without a trailing slash.
 */
export function clientFinder(database: Queryable, ownClient: AdapterPayload, consoleUrl: string): FindClient {
  return async (clientId) => {
    if (clientId === ownClient.client_id) return ownClient;
    const client = await findClientMetadata(database, clientId);
    if (client === undefined || clientId !== CONSOLE_CLIENT_ID) return client;
    return {
      ...client,
      redirect_uris: [...(client.redirect_uris ?? []), `${consoleUrl}/console/signed-in`],
      post_logout_redirect_uris: [...(client.post_logout_redirect_uris ?? []), `${consoleUrl}/console/signed-out`],
    };
  };
}

interface ClientRow {
  readonly client_id: string;
  /** Hash of the client's secret; null for a public client. */
  readonly secret_hash: string | null;
  /** Hash of the previous secret; null when there is no previous secret or when that secret is no longer valid. */
  readonly previous_secret_hash: string | null;
  readonly name: string | null;
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris: readonly string[];
  readonly allowed_scopes: readonly string[];
  readonly grant_types: readonly string[];
}

/** @returns the metadata, with hashes in place of secrets; undefined when the client does not exist or is disabled. */
async function findClientMetadata(database: Queryable, clientId: string): Promise<AdapterPayload | undefined> {
  if (!isStorableText(clientId)) return undefined;
  const { rows } = await database.query<ClientRow>(
    `select client_id, secret_hash, case when previous_secret_until > now() then previous_secret_hash end
       as previous_secret_hash, name, redirect_uris, post_logout_redirect_uris, allowed_scopes, grant_types
     from oidc_client where client_id = $1 and disabled_date is null`,
    [clientId],
  );
  const [client] = rows;
  return client && toMetadata(client);
}

function toMetadata(client: ClientRow): AdapterPayload {
  const isPublic = client.secret_hash === null;
  return {
    client_id: client.client_id,
    ...(!isPublic && { client_secret: client.secret_hash }),
    ...(client.previous_secret_hash !== null && { [PREVIOUS_SECRET_MEMBER]: client.previous_secret_hash }),
    ...(client.name !== null && { client_name: client.name }),
    grant_types: client.grant_types,
    // With `client_secret_basic`, oidc-provider also accepts the secret in form fields (R-B3).
    token_endpoint_auth_method: isPublic ? 'none' : 'client_secret_basic',
    redirect_uris: client.redirect_uris,
    post_logout_redirect_uris: client.post_logout_redirect_uris,
    response_types: client.grant_types.includes('authorization_code') ? ['code'] : [],
    [ALLOWED_SCOPES_MEMBER]: client.allowed_scopes.join(' '),
  };
}
