/**
 * How features write audit entries: `accounts` implements `WriteAuditEntry`, and the processes (api, calculator, …)
 * inject it.
 */
import type { Transaction } from '../platform/database/database.ts';
import type { Caller } from './caller/caller.ts';

/** Writes an entry into the audit trail of the caller's account, in the transaction of the change (R-B14). */
export type WriteAuditEntry<Action extends string> = (
  transaction: Transaction,
  context: { readonly caller: Caller; readonly requestId: string },
  entry: {
    readonly action: Action;
    readonly targetId?: string;
    readonly targetName?: string;
    /** Describes the change by names and numbers; never holds secrets. */
    readonly details?: Readonly<Record<string, unknown>>;
  },
) => Promise<void>;
