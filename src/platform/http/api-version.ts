/** The version of the API (§9.1, R-A2): answers name it in the header `Api-Version`, and requests may name it. */
import type { MiddlewareHandler } from 'hono';
import { DomainError } from '../errors.ts';

export const API_VERSION = '1.7';

/**
 * Returns true when the service answers requests for this version (R-A2).
 * @param requested the request header `Api-Version`; absent means the current version.
 */
export function isApiVersion(requested: string | undefined): boolean {
  return requested === undefined || requested.trim() === API_VERSION;
}

/**
 * Creates middleware that sets the response header `Api-Version` to the current version, and answers
 * `api_version_unsupported` when the request header `Api-Version` names a different version (R-A2).
 */
export function apiVersion(): MiddlewareHandler {
  return async (c, next) => {
    c.header('Api-Version', API_VERSION);
    const requested = c.req.header('api-version');
    if (!isApiVersion(requested)) {
      throw new DomainError(
        'api_version_unsupported',
        `Api-Version must be ${API_VERSION}, got ${JSON.stringify(requested)}`,
      );
    }
    await next();
  };
}
