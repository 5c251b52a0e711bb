/**
 * Authenticates by bearer token: finds the caller and checks the scope (R-B5, R-B6). Also checks permissions and roles
 * (R-B8).
 */
import type { Context, MiddlewareHandler } from 'hono';
import { DomainError } from '../../platform/errors.ts';
import { assertPermission, assertRole, type Caller, type Permission, type Role } from '../caller/caller.ts';
import type { FindCaller } from '../caller/find-caller.ts';
import type { Scope } from '../issuer/grants/token-request-rules.ts';
import type { VerifyToken } from './verify-token.ts';

export interface Authentication {
  readonly verifier: VerifyToken;
  readonly callers: FindCaller;
}

/** Context of routes behind `authenticate`. */
export interface CallerEnv {
  Variables: { caller: Caller };
}

/**
 * Start of the bearer challenge in `WWW-Authenticate`. For a request without credentials, it is the whole challenge
 * (RFC 6750 §3).
 */
export const BEARER_CHALLENGE = 'Bearer realm="tidemark"';

/** Matches an `Authorization` header with a bearer token; group 1 is the token (RFC 6750 §2.1). */
export const BEARER = /^Bearer +([\w.~+/=-]+) *$/i;

/**
 * Finds the caller whose token is in the `Authorization` header (R-B5, R-B6).
 * @throws {DomainError} invalid_token (401); insufficient_scope or permission_denied (403); dependency_unavailable
 *   (503).
 */
export async function authenticateBearer(
  { verifier, callers }: Authentication,
  authorization: string | undefined,
  scope: Scope,
): Promise<Caller> {
  const [, token] = BEARER.exec(authorization ?? '') ?? [];
  if (!token)
    throw new DomainError(
      'invalid_token',
      'the request has no bearer token; send the header Authorization: Bearer <access token>',
    );
  const verified = await verifier(token);
  if (!verified.scopes.has(scope)) {
    const got = [...verified.scopes].join(' ') || 'no scope';
    throw new DomainError('insufficient_scope', `the token must have the scope ${scope}, got ${got}`);
  }
  return callers(verified);
}

/**
 * Middleware that sets `c.var.caller`, or throws {DomainError} as `authenticateBearer` does (R-B5, R-B6). An answer
 * with the error invalid_token or insufficient_scope has the header `WWW-Authenticate` (RFC 6750).
 */
export function authenticate({ scope, ...authentication }: Authentication & { readonly scope: Scope }) {
  const middleware: MiddlewareHandler<CallerEnv> = async (c, next) => {
    const authorization = c.req.header('authorization');
    try {
      c.set('caller', await authenticateBearer(authentication, authorization, scope));
    } catch (error) {
      if (error instanceof DomainError) setChallenge(c, error, authorization, scope);
      throw error;
    }
    await next();
  };
  return middleware;
}

/** Middleware that requires a permission (R-B8). Mount it after `authenticate`. */
export function requirePermission(permission: Permission): MiddlewareHandler<CallerEnv> {
  return async (c, next) => {
    assertPermission(c.var.caller, permission);
    await next();
  };
}

/** Middleware that requires `role` or a higher role (R-B8). Mount it after `authenticate`. */
export function requireRole(role: Role): MiddlewareHandler<CallerEnv> {
  return async (c, next) => {
    assertRole(c.var.caller, role);
    await next();
  };
}

function setChallenge(c: Context, error: DomainError, authorization: string | undefined, scope: Scope): void {
  if (error.code !== 'invalid_token' && error.code !== 'insufficient_scope') return;
  // RFC 6750 §3.1: the challenge for a request without credentials has no error code.
  const reason = authorization === undefined ? '' : `, error="${error.code}"`;
  const needed = error.code === 'insufficient_scope' ? `, scope="${scope}"` : '';
  c.header('WWW-Authenticate', `${BEARER_CHALLENGE}${reason}${needed}`);
}
