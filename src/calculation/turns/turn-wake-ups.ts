/**
 * Wake-ups of calculators. A turn is a variable to run or a preview to answer. Redis holds one set of ids for each
 * account and urgency; one job for each set makes a calculator take the ids. Thousands of ids of one account are thus
 * at most three jobs among the jobs of other accounts. The sweeper finds ids that Redis loses.
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
  /** Takes the ids of the set `key` from Redis, as many as the calculator has capacity for. */
  take(key: string): Promise<void>;
  /**
   * Takes the ids of further turns of an account from Redis, if `take` left some there for lack of capacity. Takes none
   * of an urgency while MAX_HELD / 2 or more turns of this account and urgency wait in the calculator.
   */
  takeMore(accountId: number): Promise<void>;
}

/** @param target queue that receives the turns. */
export function openTurnTaker(
  queue: Pick<MemberQueue, 'takeMembers'>,
  target: {
    add(turns: readonly Turn[]): void;
    countWaiting(accountId: number, urgency: Urgency): number;
  },
): TurnTaker {
  /** Keys that may still have members in Redis after the last take. */
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
