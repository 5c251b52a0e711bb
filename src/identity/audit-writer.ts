/** How rooms that know nothing of the audit trail write into it: the role hands them the way. */
import type { Transaction } from '../platform/database/database.ts';
import type { Caller } from './caller/caller.ts';

/** Writes an act into the audit trail of the caller's account, in the transaction of the act (R-B14). */
export type WriteAuditEntry<Action extends string> = (
  transaction: Transaction,
  context: { readonly caller: Caller; readonly requestId: string },
  entry: {
    readonly action: Action;
    readonly targetId?: string;
    readonly targetName?: string;
    /** What was changed; names and numbers, never secrets. */
    readonly details?: Readonly<Record<string, unknown>>;
  },
) => Promise<void>;
