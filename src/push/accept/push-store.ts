/** Stores encoded pushes: `tryWrite` writes the points of a large push of new dates; `submit` is a group commit. */
import type { FastPaths } from '../fast-paths/fast-paths.ts';
import type { GroupOutcome } from '../store/new-operation.ts';
import type { Admission } from './admission.ts';
import type { EncodedOperation } from './encode-operation.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Submission } from './plan-group.ts';

export interface PushStore {
  /**
   * Stores a push together with the pushes that arrive at the same time, and wakes the ingester.
   * Resolves when the push is committed, or is not stored because it is stale or re-sent (`StoreOutcome`).
   */
  submit(submission: Submission): Promise<GroupOutcome>;
  /**
   * Writes points, operation and events in one transaction. @returns undefined when the caller must use `submit`.
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
