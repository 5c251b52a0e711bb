import type { Context } from 'hono';
import { DomainError } from '../platform/errors.ts';
import { MAX_INT4 } from '../platform/limits.ts';

/**
 * Parses the path parameter `name` as an id: an integer from 1 to 2^31 - 1.
 * @throws {DomainError} not_found for any other text.
 */
export function parsePathNumber(c: Context, name: string): number {
  const text = c.req.param(name) ?? '';
  const id = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (id < 1 || id > MAX_INT4)
    throw new DomainError(
      'not_found',
      `${c.req.path} does not exist: ${name} must be an integer from 1 to ${MAX_INT4}`,
    );
  return id;
}
