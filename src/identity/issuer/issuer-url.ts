/** Public URLs of the API and of token issuers. Every process must compute the same values. */
import type { Config } from '../../config.ts';

export type IssuerAddress = Pick<Config, 'AUTH_URL' | 'API_URL' | 'HTTP_HOST' | 'HTTP_PORT' | 'REALM'>;

/** @returns the public URL of the API, without a trailing slash. */
export function apiUrl({ API_URL, HTTP_HOST, HTTP_PORT }: Pick<Config, 'API_URL' | 'HTTP_HOST' | 'HTTP_PORT'>): string {
  return (API_URL ?? `http://${HTTP_HOST}:${HTTP_PORT}`).replace(/\/+$/, '');
}

/**
 * @returns the URL of the embedded issuer, which is the `iss` of its tokens: `{auth_url}/realms/{realm}` (§5),
 * without a trailing slash.
 */
export function issuerUrl(config: IssuerAddress): string {
  const base = config.AUTH_URL ?? apiUrl(config);
  return `${base.replace(/\/+$/, '')}/realms/${config.REALM}`;
}

/** @returns the URL of the issuer that signs people in: the embedded one, or the realm of Keycloak. */
export function signInIssuer(config: Config): string {
  if (config.USER_DIRECTORY !== 'keycloak' || config.KEYCLOAK_URL === undefined) return issuerUrl(config);
  return `${config.KEYCLOAK_URL.replace(/\/+$/, '')}/realms/${config.KEYCLOAK_REALM}`;
}
