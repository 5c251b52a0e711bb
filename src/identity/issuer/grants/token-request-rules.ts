/** What a token request asks for: account and scopes (R-B4, R-B6). Pure; the answers are decided elsewhere. */

const MAX_ACCOUNT_ID = 2 ** 31 - 1;
const ACR_ACCOUNT_PREFIX = 'accountId:';

/** Scopes the service knows (§5). */
export const KNOWN_SCOPES = ['datahub-api', 'push-data'] as const;
export type Scope = (typeof KNOWN_SCOPES)[number];

export type RequestedAccount =
  | { readonly kind: 'none' }
  | { readonly kind: 'account'; readonly accountId: number }
  | { readonly kind: 'malformed'; readonly field: string };

/**
 * The account asked for: the field `account`, else `acr_values=accountId:<id>` among its space-separated values. Empty
 * fields count as absent, because clients send them.
 */
export function parseRequestedAccount(form: Readonly<Record<string, unknown>>): RequestedAccount {
  if (form.account) return parseAccountId('account', form.account);
  const acr = typeof form.acr_values === 'string' ? form.acr_values.split(/\s+/) : [];
  const value = acr.find((part) => part.startsWith(ACR_ACCOUNT_PREFIX));
  return value ? parseAccountId('acr_values', value.slice(ACR_ACCOUNT_PREFIX.length)) : { kind: 'none' };
}

function parseAccountId(field: string, text: unknown): RequestedAccount {
  const accountId = typeof text === 'string' && /^\d{1,10}$/.test(text.trim()) ? Number(text) : 0;
  const isAccountId = accountId > 0 && accountId <= MAX_ACCOUNT_ID;
  return isAccountId ? { kind: 'account', accountId } : { kind: 'malformed', field };
}

/**
 * The scopes of the answer: those asked for that the client may have; all it may have when none is asked for. Scopes
 * the service does not know (`openid`, `profile`, …) are ignored, as clients of other issuers send them by habit.
 * Empty: nothing asked for may be given.
 */
export function planScopes(requested: string | undefined, allowed: readonly string[]): readonly string[] {
  const asked = (requested ?? '').split(/\s+/).filter((scope) => scope !== '');
  return asked.length === 0 ? allowed : allowed.filter((scope) => asked.includes(scope));
}
