import type { Context } from 'hono';
import { DomainError } from '../platform/errors.ts';

const MAX_INT4 = 2_147_483_647;

/** A number in the path. @throws DomainError not_found: what is no number names nothing. */
export function parsePathNumber(c: Context, name: string): number {
  const text = c.req.param(name) ?? '';
  const id = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (id < 1 || id > MAX_INT4) throw new DomainError('not_found', `there is nothing at ${c.req.path}`);
  return id;
}
