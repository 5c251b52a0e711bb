/** Who acts, and within which request: what a change needs to know of its cause. */
import type { Context } from 'hono';
import type { CallerEnv } from '../../identity/authentication/authenticate.ts';
import type { Caller } from '../../identity/caller/caller.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';

export type AccountEnv = CallerEnv & RequestIdEnv;

export interface AuditContext {
  readonly caller: Caller;
  readonly requestId: string;
}

export function auditContextOf(c: Context<AccountEnv>): AuditContext {
  return { caller: c.var.caller, requestId: c.var.requestId };
}
