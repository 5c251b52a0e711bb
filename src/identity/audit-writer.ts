/**
 * Lets features write audit entries without importing `accounts`: `accounts/audit` implements `WriteAuditEntry`, and
 * `roles` passes the implementation to the features.
 */
import type { Transaction } from '../platform/database/database.ts';
import type { Caller } from './caller/caller.ts';

/** Writes an entry into the audit trail of the caller's account, in the transaction of the audited change (R-B14). */
export type WriteAuditEntry<Action extends string> = (
  transaction: Transaction,
  context: { readonly caller: Caller; readonly requestId: string },
  entry: {
    readonly action: Action;
    readonly targetId?: string;
    readonly targetName?: string;
    /** Describes the change; never holds secrets. */
    readonly details?: Readonly<Record<string, unknown>>;
  },
) => Promise<void>;
