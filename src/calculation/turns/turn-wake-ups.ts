/**
 * Wake-ups of calculators. A turn is a variable to run or a preview to answer. Redis holds one set of ids for each
 * account and urgency; one job for each set makes a calculator take the ids. As there are three urgencies, thousands of
 * ids of one account are at most three jobs among the jobs of other accounts. When Redis loses ids, the sweeper finds
 * their turns in the database.
 */
import type { MemberQueue } from '../../platform/queue.ts';
import { type Turn, URGENCIES, type Urgency } from './fair-queue.ts';

/**
 * When this many turns of one account and one urgency wait in a calculator, this calculator leaves further turns in
 * Redis, where every calculator can take them.
 */
const MAX_HELD = 64;

/**
 * Wakes a calculator for these turns. Never rejects.
 * @returns false when Redis is unreachable; the sweeper then finds the turns in the database.
 */
export async function wakeTurns(queue: Pick<MemberQueue, 'wakeMembers'>, turns: readonly Turn[]): Promise<boolean> {
  const ids = new Map<string, string[]>();
  for (const { accountId, urgency, id } of turns) {
    const key = `${accountId}:${urgency}`;
    const members = ids.get(key) ?? [];
    ids.set(key, members);
    members.push(String(id));
  }
  return ids.size === 0 || queue.wakeMembers(ids);
}

export interface TurnTaker {
  /** Takes ids from the Redis set `key`, as many as the calculator has capacity for. */
  take(key: string): Promise<void>;
  /**
   * Takes further ids of an account from Redis if `take` left ids there for lack of capacity. Skips an urgency while
   * MAX_HELD / 2 or more turns of this account and urgency wait in the calculator.
   */
  takeMore(accountId: number): Promise<void>;
}

/** @param target in-memory queue of the calculator. It receives the turns that are taken from Redis. */
export function openTurnTaker(
  queue: Pick<MemberQueue, 'takeMembers'>,
  target: {
    add(turns: readonly Turn[]): void;
    countWaiting(accountId: number, urgency: Urgency): number;
  },
): TurnTaker {
  /** Keys of the sets that may still have ids in Redis after the latest `take`. */
  const unfinished = new Set<string>();
  const take = async (key: string): Promise<void> => {
    const [account, urgency] = key.split(':');
    const accountId = Number(account);
    if (!isUrgency(urgency) || !Number.isInteger(accountId)) return;
    unfinished.delete(key);
    const capacity = MAX_HELD - target.countWaiting(accountId, urgency);
    const members = capacity > 0 ? await queue.takeMembers(key, capacity) : [];
    if (members.length >= capacity) unfinished.add(key);
    target.add(members.map((id) => ({ accountId, urgency, id: Number(id) })));
  };
  return {
    take,
    takeMore: async (accountId) => {
      for (const urgency of URGENCIES) {
        const key = `${accountId}:${urgency}`;
        if (unfinished.has(key) && target.countWaiting(accountId, urgency) < MAX_HELD / 2) await take(key);
      }
    },
  };
}

function isUrgency(text: string | undefined): text is Urgency {
  return (URGENCIES as readonly (string | undefined)[]).includes(text);
}
