/** Parses account and scopes of a token request, and decides which scopes to grant (R-B4, R-B6). Pure. */
import { MAX_INT4 } from '../../../platform/limits.ts';

const ACR_ACCOUNT_PREFIX = 'accountId:';

/** Scopes of the service (§5). */
export const KNOWN_SCOPES = ['datahub-api', 'push-data'] as const;
export type Scope = (typeof KNOWN_SCOPES)[number];

/**
 * Maps scope names of the previous identity system to those of this service. Old clients still request the previous
 * names (§5).
 */
const SCOPE_ALIASES: ReadonlyMap<string, Scope> = new Map([['opisense-api', 'datahub-api']]);

/**
 * OpenID Connect scope that requests an ID token. Every client may request this scope in addition to scopes of the
 * service.
 */
export const OPENID = 'openid';

/** @returns the scope for which `name` is an alias; `name` itself when `name` is not an alias. */
export function toScope(name: string): string {
  return SCOPE_ALIASES.get(name) ?? name;
}

/** Splits `scope` at spaces and replaces aliases. @returns each name once. */
export function parseScopes(scope: string | undefined): ReadonlySet<string> {
  const names = (scope ?? '').split(/\s+/).filter((name) => name !== '');
  return new Set(names.map(toScope));
}

export interface PlannedScopes {
  /** Empty when none of the requested scopes may be granted. */
  readonly granted: readonly string[];
  /** Requested scopes that are not granted, in the order requested. */
  readonly refused: readonly string[];
}

export type RequestedAccount =
  | { readonly kind: 'none' }
  | { readonly kind: 'account'; readonly accountId: number }
  | { readonly kind: 'malformed'; readonly field: string };

/**
 * Parses the requested account: the field `account`, else `accountId:<id>` among the space-separated `acr_values`
 * (R-B4). Empty fields count as absent, because clients send empty fields.
 */
export function parseRequestedAccount(form: Readonly<Record<string, unknown>>): RequestedAccount {
  if (form.account) return parseAccountId('account', form.account);
  const acr = typeof form.acr_values === 'string' ? form.acr_values.split(/\s+/) : [];
  const value = acr.find((part) => part.startsWith(ACR_ACCOUNT_PREFIX));
  return value ? parseAccountId('acr_values', value.slice(ACR_ACCOUNT_PREFIX.length)) : { kind: 'none' };
}

function parseAccountId(field: string, text: unknown): RequestedAccount {
  const accountId = typeof text === 'string' && /^\d{1,10}$/.test(text.trim()) ? Number(text) : 0;
  const isAccountId = accountId > 0 && accountId <= MAX_INT4;
  return isAccountId ? { kind: 'account', accountId } : { kind: 'malformed', field };
}

/**
 * Decides the scopes of a token: the requested scopes that the client is allowed, or all scopes of the client when the
 * request names none (R-B6). A request with at least one allowed scope succeeds even if it also names scopes that the
 * client is not allowed (`profile`, `email`, …), because clients written for other issuers name them.
 */
export function planScopes(requested: string | undefined, allowed: readonly string[]): PlannedScopes {
  const names = parseScopes(requested);
  if (names.size === 0) return { granted: allowed, refused: [] };
  return {
    granted: allowed.filter((scope) => names.has(scope)),
    refused: [...names].filter((scope) => !allowed.includes(scope)),
  };
}
