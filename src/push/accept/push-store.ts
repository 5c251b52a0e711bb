/**
 * Stores encoded pushes. `tryWrite` is for a large push whose dates are all after the stored dates of its variables;
 * `submit` is for any push.
 */
import type { FastPaths } from '../fast-paths/fast-paths.ts';
import type { GroupOutcome } from '../store/new-operation.ts';
import type { Admission } from './admission.ts';
import type { EncodedOperation } from './encode-operation.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Submission } from './plan-group.ts';

export interface PushStore {
  /**
   * Stores a push together with the pushes that arrive at the same time, and wakes the ingester.
   * Resolves after the push is committed. A stale or re-sent push is not stored; the outcome says so (`StoreOutcome`).
   */
  submit(submission: Submission): Promise<GroupOutcome>;
  /**
   * Writes the points, the operation and the events of a push in one transaction.
   * @returns undefined when the push cannot be written this way; the caller must then call `submit`.
   */
  tryWrite(submission: Submission & { readonly push: EncodedOperation }): Promise<GroupOutcome | undefined>;
}

export interface PushStoreParts {
  readonly group: GroupCommit;
  readonly fastPaths: Pick<FastPaths, 'tryWrite'>;
  readonly admission: Admission;
  /** Wakes the ingester for an account. */
  readonly wake: (accountId: number) => void;
}

/** @returns the store of this process; `submit` and `tryWrite` wake the ingester after a commit. */
export function openPushStore({ group, fastPaths, admission, wake }: PushStoreParts): PushStore {
  return {
    submit: async (submission) => {
      const outcome = await group.submit(submission);
      if (outcome.kind !== 'stored') return outcome;
      admission.noteQueued(submission.accountId, submission.push.tuples.length);
      wake(submission.accountId);
      return outcome;
    },
    tryWrite: async ({ accountId, structureVersion, push }) => {
      const outcome = await fastPaths.tryWrite({ accountId, structureVersion, operation: push });
      if (outcome?.kind !== 'stored') return outcome;
      wake(accountId);
      return { ...outcome, label: push.label };
    },
  };
}
