/**
 * Wakes calculators when turns wait. A turn is a variable to run or a preview to answer. For each account and urgency,
 * Redis holds one set of turn ids, and one job makes a calculator take ids. If Redis loses ids, the sweeper finds the
 * turns in the database.
 */
import type { MemberQueue } from '../../platform/queue.ts';
import { type Turn, URGENCIES, type Urgency } from './fair-queue.ts';

/**
 * A calculator fetches turns from Redis only until it holds this many waiting turns per account and urgency. Further
 * turns stay in Redis, where any calculator can fetch them.
 */
const MAX_HELD = 64;

/**
 * Wakes calculators for these turns. Never rejects.
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
   * Takes more ids from those Redis sets of an account in which the latest `take` may have left ids. Skips a set while
   * at least MAX_HELD / 2 turns of its account and urgency wait in the calculator.
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
  /** Keys of those Redis sets in which the latest `take` may have left ids. */
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
