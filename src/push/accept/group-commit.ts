/**
 * Group commit: stores pushes of many accounts together, with one statement and one flush of the WAL.
 * - While MAX_GROUPS groups are being stored, new pushes wait and become the next group.
 * - Two groups never store pushes of one user at the same time. Otherwise, one group would wait for the user's lock
 *   (R-D6, store/turn-lock.ts).
 * - If a group fails although the database is available, its pushes are stored one by one.
 */

import type { Database } from '../../platform/database/database.ts';
import { isDependencyError } from '../../platform/database/dependency-error.ts';
import { runForAll } from '../../platform/shares/connection-shares.ts';
import type { FastPaths } from '../fast-paths/fast-paths.ts';
import type { GroupOutcome, StoreOutcome } from '../store/new-operation.ts';
import { memberLabel } from '../store/operation-label.ts';
import { storeBatches } from '../store/store-batches.ts';
import { turnKey } from '../store/turn-lock.ts';
import { type GroupBatch, type Submission, toBatches } from './plan-group.ts';

export interface GroupCommit {
  /** Resolves when the push is committed, or when it is not stored because it is stale or re-sent (`StoreOutcome`). */
  submit(submission: Submission): Promise<GroupOutcome>;
}

interface Waiting extends Submission {
  /** Key of the lock that orders the pushes of a user (store/turn-lock.ts). */
  readonly turn: string;
  readonly resolve: (outcome: GroupOutcome) => void;
  readonly reject: (error: unknown) => void;
}

// Maximum number of groups that run at the same time. There are two so that, when another transaction holds the lock of
// a user, only the group with that user's pushes waits and the other group continues.
const MAX_GROUPS = 2;
const MAX_PUSHES = 1000;
const MAX_BYTES = 8 << 20;

/** Opens the group commit (R-D6). @param join function that combines plain pushes of one user into one operation. */
export function openGroupCommit(database: Database, join: FastPaths['toSharedOperation']): GroupCommit {
  let waiting: Waiting[] = [];
  const busy = new Set<string>();
  let groups = 0;

  const take = (): readonly Waiting[] => {
    const { taken, left } = takeGroup(waiting, busy);
    waiting = left;
    return taken;
  };
  const run = async (): Promise<void> => {
    groups += 1;
    // Waits, so that the first group can include all pushes of this iteration of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    for (let group = take(); group.length > 0; group = take()) {
      const turns = new Set(group.map(({ turn }) => turn));
      for (const turn of turns) busy.add(turn);
      await storeGroup(database, group, join);
      for (const turn of turns) busy.delete(turn);
    }
    groups -= 1;
  };

  return {
    submit: (submission) =>
      new Promise((resolve, reject) => {
        const turn = turnKey(submission.accountId, submission.push.userId);
        waiting.push({ ...submission, turn, resolve, reject });
        // `run` stores pushes of all accounts, so its connection must not count towards the share of one account.
        if (groups < MAX_GROUPS && !busy.has(turn)) void runForAll(run);
      }),
  };
}

/**
 * Takes pushes of users who have no push in a running group, in the order of arrival, up to MAX_PUSHES and MAX_BYTES.
 * Takes the first of these pushes even if it exceeds MAX_BYTES, and leaves other pushes that do not fit.
 */
function takeGroup(waiting: readonly Waiting[], busy: ReadonlySet<string>) {
  const taken: Waiting[] = [];
  const left: Waiting[] = [];
  let bytes = 0;
  for (const one of waiting) {
    const isFull = taken.length === MAX_PUSHES || (taken.length > 0 && bytes + one.push.tuples.length > MAX_BYTES);
    if (isFull || busy.has(one.turn)) {
      left.push(one);
      continue;
    }
    taken.push(one);
    bytes += one.push.tuples.length;
  }
  return { taken, left };
}

async function storeGroup(
  database: Database,
  group: readonly Waiting[],
  join: FastPaths['toSharedOperation'],
): Promise<void> {
  try {
    const batches = toBatches(group, (pushes) => join(pushes, Date.now()));
    const outcomes = await storeBatches(
      database,
      batches.map(({ batch }) => batch),
    );
    for (const [index, batch] of batches.entries()) settle(batch, outcomes[index] ?? []);
  } catch (error) {
    if (group.length === 1 || isDependencyError(error)) for (const { reject } of group) reject(error);
    else for (const one of group) await storeGroup(database, [one], join);
  }
}

/** Resolves the promises of the pushes of a batch, in the order in which the pushes take effect (R-D6). */
function settle({ batch, pushesOf }: GroupBatch<Waiting>, outcomes: readonly StoreOutcome[]): void {
  for (const [index, { label }] of batch.operations.entries()) {
    const outcome = outcomes[index] ?? { kind: 'stale' };
    for (const [member, { resolve }] of (pushesOf[index] ?? []).entries()) {
      resolve(outcome.kind === 'stored' ? { ...outcome, label: memberLabel(label, member) } : outcome);
    }
  }
}
