/**
 * Maps request paths to paths inside the embedded issuer. Realm aliases reach the same issuer (R-B2); repeated and trailing
 * slashes are accepted without a redirect (R-A3).
 */
export interface IssuerPaths {
  /** Path of the issuer's address before `/realms`, such as `/auth`; usually empty. */
  readonly basePath: string;
  /** The realm and its aliases. */
  readonly realms: readonly string[];
}

/** @param issuer the issuer's address, ending in `/realms/{realm}`. */
export function issuerPaths(issuer: string, aliases: readonly string[]): IssuerPaths {
  const [, basePath = '', realm = ''] = /^(.*)\/realms\/([^/]+)$/.exec(new URL(issuer).pathname) ?? [];
  return { basePath, realms: [realm, ...aliases] };
}

/**
 * Finds the path inside the issuer. A proxy may or may not have removed the base path.
 * @param path without the query.
 * @returns a path that begins with a slash; undefined when `path` does not belong to the issuer.
 */
export function planIssuerPath(path: string, { basePath, realms }: IssuerPaths): string | undefined {
  const clean = path.replace(/\/{2,}/g, '/');
  const local = basePath && clean.startsWith(`${basePath}/`) ? clean.slice(basePath.length) : clean;
  const [, realm, rest = ''] = /^\/realms\/([^/]+)(\/.*)?$/.exec(local) ?? [];
  if (!realm || !realms.includes(realm)) return undefined;
  return rest.replace(/\/$/, '') || '/';
}
