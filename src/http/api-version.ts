/** `Api-Version` (§9.1, R-A2): absent or 1.7; every response carries it. */
import type { MiddlewareHandler } from 'hono';
import { DomainError } from '../platform/errors.ts';
import { API_VERSION, isApiVersion } from '../platform/http/api-version.ts';

export function apiVersion(): MiddlewareHandler {
  return async (c, next) => {
    c.header('Api-Version', API_VERSION);
    const asked = c.req.header('api-version');
    if (!isApiVersion(asked)) {
      throw new DomainError(
        'api_version_unsupported',
        `Api-Version must be ${API_VERSION}, got ${JSON.stringify(asked)}`,
      );
    }
    await next();
  };
}
