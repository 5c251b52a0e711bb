/** Reads paths as shipped clients write them (R-A3): trailing and doubled slashes are ignored. */

/** @returns the path of a URL for routing: without query, with single slashes, without a slash at the end. */
export function routingPath(address: string): string {
  const start = address.indexOf('/', address.indexOf('//') + 2);
  if (start < 0) return '/';
  const end = address.slice(start).search(/[?#]/);
  const path = (end < 0 ? address.slice(start) : address.slice(start, start + end)).replace(/\/{2,}/g, '/');
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
