/** Public address of the embedded issuer, the `iss` of its tokens. Every process must compute the same value. */
import type { Config } from '../../config.ts';

export type IssuerAddress = Pick<Config, 'AUTH_URL' | 'API_URL' | 'HTTP_HOST' | 'HTTP_PORT' | 'REALM'>;

/** `{auth_url}/realms/{realm}` (§5), without a trailing slash. */
export function issuerUrl(config: IssuerAddress): string {
  const base = config.AUTH_URL ?? config.API_URL ?? `http://${config.HTTP_HOST}:${config.HTTP_PORT}`;
  return `${base.replace(/\/+$/, '')}/realms/${config.REALM}`;
}
