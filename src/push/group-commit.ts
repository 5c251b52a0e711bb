/**
 * Pushes that arrive at the same time are stored together: one statement and one flush of the log for all, of whatever
 * account. Nobody waits for company: what comes while a group is being stored makes up the next one. What fails together
 * is tried one by one, so that one push cannot make the others fail.
 */
import type { Database } from '../platform/database.ts';
import { isDependencyError } from '../platform/dependency-error.ts';
import { type NewBatch, type NewOperation, type StoreOutcome, storeBatches } from './store-batches.ts';

/** One push, its targets resolved and its readings encoded. */
export interface Submission {
  readonly accountId: number;
  readonly structureVersion: number | null;
  readonly operation: NewOperation;
}

export interface GroupCommit {
  /** Resolves when the push is committed, or was not stored. */
  submit(submission: Submission): Promise<StoreOutcome>;
}

interface Waiting extends Submission {
  readonly resolve: (outcome: StoreOutcome) => void;
  readonly reject: (error: unknown) => void;
}

// One group is being flushed while the next is being put together.
const MAX_GROUPS = 2;
const MAX_OPERATIONS = 1000;
const MAX_BYTES = 8 << 20;

export function openGroupCommit(database: Database): GroupCommit {
  const waiting: Waiting[] = [];
  let groups = 0;

  const run = async (): Promise<void> => {
    groups += 1;
    // What arrives in the same turn of the event loop goes along.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) await storeGroup(database, takeGroup(waiting));
    groups -= 1;
  };

  return {
    submit: (submission) =>
      new Promise((resolve, reject) => {
        waiting.push({ ...submission, resolve, reject });
        if (groups < MAX_GROUPS) void run();
      }),
  };
}

/** At least one, the oldest first. */
function takeGroup(waiting: Waiting[]): readonly Waiting[] {
  let bytes = 0;
  let count = 0;
  for (const { operation } of waiting) {
    bytes += operation.tuples.length;
    if (count === MAX_OPERATIONS || (count > 0 && bytes > MAX_BYTES)) break;
    count += 1;
  }
  return waiting.splice(0, count);
}

async function storeGroup(database: Database, group: readonly Waiting[]): Promise<void> {
  const batches = toBatches(group);
  try {
    const outcomes = await storeBatches(
      database,
      batches.map(({ batch }) => batch),
    );
    // In the order in which they take effect (R-D6).
    for (const [index, { members }] of batches.entries()) {
      for (const [place, { resolve }] of members.entries()) {
        resolve(outcomes[index]?.[place] ?? { kind: 'stale' });
      }
    }
  } catch (error) {
    if (group.length === 1 || isDependencyError(error)) for (const { reject } of group) reject(error);
    else for (const one of group) await storeGroup(database, [one]);
  }
}

interface GroupBatch {
  readonly batch: NewBatch;
  readonly members: readonly Waiting[];
}

/**
 * One batch per account and version of its structure. A push that may turn out to be sent again is a batch of its own:
 * its readings must be left out then.
 */
function toBatches(group: readonly Waiting[]): readonly GroupBatch[] {
  const members = new Map<string, Waiting[]>();
  for (const [place, one] of group.entries()) {
    const isAlone = one.operation.resendKey !== null;
    const key = `${one.accountId}/${one.structureVersion}/${isAlone ? place : ''}`;
    const same = members.get(key);
    if (same) same.push(one);
    else members.set(key, [one]);
  }
  return [...members.values()].map((same) => {
    const { accountId = 0, structureVersion = null } = same[0] ?? {};
    const operations = same.map(({ operation }) => operation);
    return { batch: { accountId, structureVersion, isQueued: true, operations }, members: same };
  });
}
