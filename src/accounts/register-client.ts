import type { Queryable } from '../platform/database.ts';
import { hashSecret } from '../platform/secret-hash.ts';

export interface NewClient {
  readonly clientId: string;
  /** Stored as a hash only. */
  readonly secret: string;
  /** Scopes it may ask for: datahub-api, push-data. */
  readonly scopes: readonly string[];
  /** Default: password and refresh_token. */
  readonly grantTypes?: readonly string[];
}

const DEFAULT_GRANT_TYPES = ['password', 'refresh_token'];

/** Registers a client of the token issuer, or replaces the secret, scopes and grants of the one of that name (§5). */
export async function registerClient(database: Queryable, client: NewClient): Promise<void> {
  await database.query(
    `insert into oidc_client (client_id, secret_hash, allowed_scopes, grant_types) values ($1, $2, $3, $4)
     on conflict (client_id) do update set secret_hash = excluded.secret_hash,
       allowed_scopes = excluded.allowed_scopes, grant_types = excluded.grant_types`,
    [client.clientId, await hashSecret(client.secret), client.scopes, client.grantTypes ?? DEFAULT_GRANT_TYPES],
  );
}
