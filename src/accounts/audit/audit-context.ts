/** Caller and request behind a change, as the audit trail records them. */
import type { Context } from 'hono';
import type { CallerEnv } from '../../identity/authentication/authenticate.ts';
import type { Caller } from '../../identity/caller/caller.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';

export type AccountEnv = CallerEnv & RequestIdEnv;

export interface AuditContext {
  readonly caller: Caller;
  readonly requestId: string;
}

/** @returns the caller and the id of a request, for its audit entries. */
export function auditContextOf(c: Context<AccountEnv>): AuditContext {
  return { caller: c.var.caller, requestId: c.var.requestId };
}
