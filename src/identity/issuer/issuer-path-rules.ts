/**
 * Which paths belong to the embedded issuer, and what they are called inside it. Realm aliases reach the same issuer
 * (R-B2); doubled and trailing slashes are tolerated without a redirect (R-A3).
 */
export interface IssuerPaths {
  /** Path of the issuer address in front of `/realms`, such as `/auth`; usually empty. */
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
 * The path inside the issuer, beginning with a slash, or undefined when `path` is not the issuer's. A proxy may or may
 * not have removed the base path. @param path without a query.
 */
export function planIssuerPath(path: string, { basePath, realms }: IssuerPaths): string | undefined {
  const clean = path.replace(/\/{2,}/g, '/');
  const local = basePath && clean.startsWith(`${basePath}/`) ? clean.slice(basePath.length) : clean;
  const [, realm, rest = ''] = /^\/realms\/([^/]+)(\/.*)?$/.exec(local) ?? [];
  if (!realm || !realms.includes(realm)) return undefined;
  return rest.replace(/\/$/, '') || '/';
}
