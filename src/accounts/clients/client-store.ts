/** Stores clients of the token issuer (`oidc_client`), with the hashes of their secrets (R-B11). */
import { randomBytes } from 'node:crypto';
import type { Queryable, Transaction } from '../../platform/database/database.ts';
import { isStorableText } from '../../platform/database/storable-text.ts';
import { DomainError } from '../../platform/errors.ts';
import { hashSecret } from '../../platform/secret-hash.ts';
import type { ClientRegistration } from './client-rules.ts';

export interface NewClient {
  readonly clientId: string;
  /** Secret of the client; only its hash is stored. */
  readonly secret: string;
  /** Scopes that the client may request: `datahub-api`, `push-data` or both. */
  readonly scopes: readonly string[];
  /** Grants that the client may use. Default: password and refresh_token. */
  readonly grantTypes?: readonly string[];
}

const SECRET_BYTES = 24;
const DEFAULT_GRANT_TYPES = ['password', 'refresh_token'];

/** Registers a client of the token issuer. If the id exists, replaces the client's secret, scopes and grants (§5). */
export async function registerClient(database: Queryable, client: NewClient): Promise<void> {
  await database.query(
    `insert into oidc_client (client_id, secret_hash, allowed_scopes, grant_types) values ($1, $2, $3, $4)
     on conflict (client_id) do update set secret_hash = excluded.secret_hash,
       allowed_scopes = excluded.allowed_scopes, grant_types = excluded.grant_types`,
    [client.clientId, await hashSecret(client.secret), client.scopes, client.grantTypes ?? DEFAULT_GRANT_TYPES],
  );
}

export interface IssuedClient extends ClientRegistration {
  /** Secret of the client, stored only as a hash; undefined for a public client. */
  readonly secret: string | undefined;
  readonly name: string | undefined;
}

/** Registers a new client. @throws {DomainError} conflict when a client with this id exists. */
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
    throw new DomainError(
      'conflict',
      `client ${clientId} already exists; choose another id, or, if the client is not public, replace its secret`,
    );
}

/** @returns a new secret of 192 random bits. */
export function makeClientSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/**
 * Replaces a client's secret.
 * @param overlapHours hours for which the old secret stays valid; 0 invalidates it immediately.
 * @throws {DomainError} not_found for an unknown or public client.
 */
export async function replaceClientSecret(
  database: Queryable,
  clientId: string,
  secret: string,
  overlapHours: number,
): Promise<void> {
  const { rowCount } = await database.query(
    `update oidc_client set secret_hash = $2, secret_date = now(),
       previous_secret_hash = case when $3::int > 0 then secret_hash end,
       previous_secret_until = case when $3::int > 0 then now() + make_interval(hours => $3::int) end
     where client_id = $1 and secret_hash is not null`,
    [clientId, await hashSecret(secret), overlapHours],
  );
  if (rowCount !== 1)
    throw new DomainError(
      'not_found',
      `client ${clientId} does not exist, or is public and has no secret; create-client creates a client with a secret`,
    );
}

/** A client as administrators see it. */
export interface StoredClient extends ClientRegistration {
  readonly name: string | null;
  readonly isPublic: boolean;
  readonly isEnabled: boolean;
  readonly createdDate: string;
  /** Instant at which `replaceClientSecret` last replaced the secret; null when it never did. */
  readonly secretDate: string | null;
  /** Instant until which the replaced secret is valid; null when no replaced secret is valid. */
  readonly previousSecretUntil: string | null;
}

const COLUMNS = `client_id as "clientId", name, allowed_scopes as scopes, grant_types as "grantTypes",
  redirect_uris as "redirectUris", post_logout_redirect_uris as "logoutUris", secret_hash is null as "isPublic",
  disabled_date is null as "isEnabled", created_date as "createdDate", secret_date as "secretDate",
  case when previous_secret_until > now() then previous_secret_until end as "previousSecretUntil"`;

/** @returns every client, sorted by id. */
export async function listClients(database: Queryable): Promise<readonly StoredClient[]> {
  const { rows } = await database.query<StoredClient>(`select ${COLUMNS} from oidc_client order by client_id`);
  return rows;
}

/**
 * Reads a client and locks its row until the transaction ends.
 * @throws {DomainError} not_found when the client does not exist.
 */
export async function lockClient(transaction: Transaction, clientId: string): Promise<StoredClient> {
  const { rows } = isStorableText(clientId)
    ? await transaction.query<StoredClient>(`select ${COLUMNS} from oidc_client where client_id = $1 for update`, [
        clientId,
      ])
    : { rows: [] };
  const [client] = rows;
  if (client) return client;
  throw new DomainError('not_found', `client ${clientId} does not exist`);
}

/** Saves name, scopes, grants, redirect URIs and logout URIs of a client, and whether the client is enabled. */
export async function updateClient(
  database: Queryable,
  { clientId, name, isEnabled, scopes, grantTypes, redirectUris, logoutUris }: StoredClient,
): Promise<void> {
  await database.query(
    `update oidc_client set name = $2, allowed_scopes = $3, grant_types = $4, redirect_uris = $5,
       post_logout_redirect_uris = $6, disabled_date = case when $7 then null else coalesce(disabled_date, now()) end
     where client_id = $1`,
    [clientId, name, scopes, grantTypes, redirectUris, logoutUris, isEnabled],
  );
}

/** Deletes a client, but not its sessions: call `endClientSessions` too. */
export async function deleteClient(database: Queryable, clientId: string): Promise<void> {
  await database.query('delete from oidc_client where client_id = $1', [clientId]);
}

/**
 * Deletes the client's refresh tokens, codes and grants. Access tokens stay valid until they expire
 * (`ACCESS_TOKEN_TTL_SEC`).
 */
export async function endClientSessions(database: Queryable, clientId: string): Promise<void> {
  await database.query(`delete from oidc_payload where payload ->> 'clientId' = $1`, [clientId]);
}
