import type { Queryable } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { hashSecret } from '../../platform/secret-hash.ts';
import type { ClientRegistration } from './client-rules.ts';

export interface NewClient {
  readonly clientId: string;
  /** Secret of the client; only its hash is stored. */
  readonly secret: string;
  /** Scopes the client may request: datahub-api, push-data. */
  readonly scopes: readonly string[];
  /** Grants that the client may use. Default: password and refresh_token. */
  readonly grantTypes?: readonly string[];
}

const DEFAULT_GRANT_TYPES = ['password', 'refresh_token'];

/** Registers a client of the token issuer, or replaces secret, scopes and grants of the existing one (§5). */
export async function registerClient(database: Queryable, client: NewClient): Promise<void> {
  await database.query(
    `insert into oidc_client (client_id, secret_hash, allowed_scopes, grant_types) values ($1, $2, $3, $4)
     on conflict (client_id) do update set secret_hash = excluded.secret_hash,
       allowed_scopes = excluded.allowed_scopes, grant_types = excluded.grant_types`,
    [client.clientId, await hashSecret(client.secret), client.scopes, client.grantTypes ?? DEFAULT_GRANT_TYPES],
  );
}

export interface IssuedClient extends ClientRegistration {
  /** Secret of the client, of which only the hash is stored; undefined for a public client. */
  readonly secret: string | undefined;
  readonly name: string | undefined;
}

/** Registers a new client. @throws {DomainError} conflict when the client id is taken. */
export async function insertClient(database: Queryable, client: IssuedClient): Promise<void> {
  const { clientId, secret, name, scopes, grantTypes, redirectUris, logoutUris } = client;
  const hash = secret === undefined ? null : await hashSecret(secret);
  const { rowCount } = await database.query(
    `insert into oidc_client (client_id, secret_hash, name, allowed_scopes, grant_types, redirect_uris,
       post_logout_redirect_uris)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (client_id) do nothing`,
    [clientId, hash, name, scopes, grantTypes, redirectUris, logoutUris],
  );
  if (rowCount !== 1)
    throw new DomainError('conflict', `client ${clientId} already exists; rotate-client-secret replaces its secret`);
}

/** Replaces a client's secret. @throws {DomainError} not_found for an unknown or public client. */
export async function replaceClientSecret(database: Queryable, clientId: string, secret: string): Promise<void> {
  const { rowCount } = await database.query(
    'update oidc_client set secret_hash = $2 where client_id = $1 and secret_hash is not null',
    [clientId, await hashSecret(secret)],
  );
  if (rowCount !== 1)
    throw new DomainError('not_found', `client ${clientId} does not exist or is public; create-client creates one`);
}
