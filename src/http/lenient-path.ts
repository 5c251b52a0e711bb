/** Paths as shipped clients write them (R-A3): a trailing slash and doubled slashes are read as if they were not there. */

/** The path of an address for routing: no query, single slashes, none at the end. */
export function routingPath(address: string): string {
  const start = address.indexOf('/', address.indexOf('//') + 2);
  if (start < 0) return '/';
  const end = address.slice(start).search(/[?#]/);
  const path = (end < 0 ? address.slice(start) : address.slice(start, start + end)).replace(/\/{2,}/g, '/');
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
