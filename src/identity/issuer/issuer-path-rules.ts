/**
 * Maps request paths to paths inside the embedded issuer. Paths with an alias of the realm and paths of the previous
 * identity system reach this issuer too (R-B2, §5). Repeated and trailing slashes are accepted without a redirect
 * (R-A3).
 */
const PROTOCOL = '/protocol/openid-connect';
const DISCOVERY = '/.well-known/openid-configuration';

/**
 * Maps the paths of the previous identity system, which had no realms, to paths inside the issuer. Shipped clients use
 * the previous system's paths by default.
 */
const OLDER_PATHS: ReadonlyMap<string, string> = new Map([
  [DISCOVERY, DISCOVERY],
  [`${DISCOVERY}/jwks`, `${PROTOCOL}/certs`],
  ['/connect/authorize', `${PROTOCOL}/auth`],
  ['/connect/token', `${PROTOCOL}/token`],
  ['/connect/userinfo', `${PROTOCOL}/userinfo`],
  ['/connect/revocation', `${PROTOCOL}/revoke`],
  ['/connect/endsession', `${PROTOCOL}/logout`],
]);

export interface IssuerPaths {
  /** Path of the issuer's URL before `/realms`, such as `/auth`; usually empty. */
  readonly basePath: string;
  /** Names of the realm: its own name, then its aliases. */
  readonly realms: readonly string[];
}

/**
 * Derives the base path and the realm names from the issuer's URL (R-B2).
 * @param issuer the issuer's URL, ending in `/realms/{realm}`.
 */
export function issuerPaths(issuer: string, aliases: readonly string[]): IssuerPaths {
  const [, basePath = '', realm = ''] = /^(.*)\/realms\/([^/]+)$/.exec(new URL(issuer).pathname) ?? [];
  return { basePath, realms: [realm, ...aliases] };
}

/**
 * Maps the path of a request to a path inside the issuer (R-B2, R-A3). The base path may be absent, because a proxy can
 * remove it.
 * @param path path of the request, without the query.
 * @returns a path that begins with a slash; undefined when `path` does not belong to the issuer.
 */
export function planIssuerPath(path: string, { basePath, realms }: IssuerPaths): string | undefined {
  const clean = path.replace(/\/{2,}/g, '/');
  const local = basePath && clean.startsWith(`${basePath}/`) ? clean.slice(basePath.length) : clean;
  const older = OLDER_PATHS.get(local.replace(/\/$/, '').toLowerCase());
  if (older !== undefined) return older;
  const [, realm, rest = ''] = /^\/realms\/([^/]+)(\/.*)?$/.exec(local) ?? [];
  if (!realm || !realms.includes(realm)) return undefined;
  return rest.replace(/\/$/, '') || '/';
}
