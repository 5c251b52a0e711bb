/**
 * The issuers whose tokens are accepted, and where their keys are (R-B1). The keys of the embedded issuer are read from
 * the database, because its public URL may be unreachable from inside a container, or may not be served yet. The keys
 * of other issuers are read over HTTP.
 */
import type { JSONWebKeySet } from 'jose';
import type { Config } from '../../config.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { issuerUrl } from '../issuer/issuer-url.ts';
import { findPublicKeys } from '../keys/signing-keys.ts';

export type KeySource =
  | { readonly kind: 'database'; readonly database: Queryable }
  | { readonly kind: 'http'; readonly jwksUri: string };

export interface TrustedIssuer {
  /** Exact value of the claim `iss`. */
  readonly issuer: string;
  /** Value that the claim `aud` must contain. */
  readonly audience: string;
  readonly keys: KeySource;
}

const FETCH_TIMEOUT_MS = 5000;

/**
 * Advice in the error that a client gets when an issuer fails. The cause of this error is logged, not sent; it contains
 * the URL and the reason.
 */
export const ISSUER_ADVICE = 'try again later, or quote the request id to the operator, whose log has the reason';

/** @returns the issuers in the setting TRUSTED_ISSUERS; without this setting, only the embedded issuer (R-B1). */
export function trustedIssuers(config: Config, database: Queryable): readonly TrustedIssuer[] {
  const embedded = issuerUrl(config);
  const stored: KeySource = { kind: 'database', database };
  if (!config.TRUSTED_ISSUERS) return [{ issuer: embedded, audience: config.TOKEN_AUDIENCE, keys: stored }];
  return config.TRUSTED_ISSUERS.map(({ issuer, jwksUri, audience }) => ({
    issuer,
    audience,
    keys: issuer === embedded ? stored : { kind: 'http', jwksUri },
  }));
}

/**
 * Reads the keys of an issuer (R-B1).
 * @throws Error when the keys cannot be read, or when reading them over HTTP takes more than 5 seconds.
 */
export async function readKeys(source: KeySource, fetchKeys: typeof fetch): Promise<JSONWebKeySet> {
  switch (source.kind) {
    case 'database':
      return findPublicKeys(source.database);
    case 'http':
      return fetchKeySet(source.jwksUri, fetchKeys);
  }
}

async function fetchKeySet(jwksUri: string, fetchKeys: typeof fetch): Promise<JSONWebKeySet> {
  const response = await fetchKeys(jwksUri, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`${jwksUri} must answer with a key set, got status ${response.status}`);
  return (await response.json()) as JSONWebKeySet;
}
