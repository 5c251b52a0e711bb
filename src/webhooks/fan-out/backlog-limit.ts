/**
 * How many messages wait for each webhook, about: a receiver that is down must not fill the disk. Counting all of a long
 * backlog for every event would slow down what has nothing to do with it, so a count is reused for a while; several
 * processes may exceed the limit by what each stores in that while.
 */
import type { Transaction } from '../../platform/database/database.ts';

export interface BacklogLimit {
  /** How many more may be stored for each: 0 from the limit on until a tenth of it is free again. */
  measure(transaction: Transaction, webhooks: readonly LimitedWebhook[]): Promise<Capacity>;
}

export interface LimitedWebhook {
  readonly webhookId: string;
  /** Messages to it are not kept just now. */
  readonly isFull: boolean;
}

export interface Capacity {
  /** Takes room for one message. @returns false when there is none. */
  take(webhookId: string): boolean;
}

interface Count {
  pending: number;
  addedSince: number;
  readonly countedMillis: number;
}

const MIN_AGE_MS = 2000;
const MAX_AGE_MS = 30_000;
/** A count of 100,000 takes 12 to 44 ms of PostgreSQL: the longer the backlog, the longer its count is good for. */
const AGE_MS_PER_MESSAGE = 0.3;
const MAX_ADDED = 1000;
/** Below it there is room again. */
const FULL_SHARE = 0.9;
const MAX_ENTRIES = 10_000;

const COUNT = `
  select wanted.id as "webhookId", counted.pending from unnest($1::uuid[]) wanted (id)
  cross join lateral (
    select count(*) as pending
    from (select from webhook_attempt where webhook_id = wanted.id and state = 'Pending' limit $2) waiting
  ) counted`;

/** @param nowMillis a clock that only goes forward. */
export function openBacklogLimit(maxPending: number, nowMillis: () => number): BacklogLimit {
  const counts = new Map<string, Count>();
  /** What is nearly full is counted often, so that nothing is left out for which there is room by now. */
  const maxAgeMs = ({ pending }: Count, isFull: boolean): number =>
    !isFull && pending > maxPending * FULL_SHARE
      ? MIN_AGE_MS
      : Math.min(Math.max(pending * AGE_MS_PER_MESSAGE, MIN_AGE_MS), MAX_AGE_MS);
  const isStale = (count: Count | undefined, isFull: boolean): boolean =>
    !count ||
    nowMillis() - count.countedMillis > maxAgeMs(count, isFull) ||
    count.addedSince >= Math.min(MAX_ADDED, maxPending / 10);
  const refresh = async (transaction: Transaction, webhooks: readonly LimitedWebhook[]): Promise<void> => {
    // First: whatever of these was in it is counted again.
    if (counts.size > MAX_ENTRIES) counts.clear();
    const stale = webhooks.filter(({ webhookId, isFull }) => isStale(counts.get(webhookId), isFull));
    if (stale.length === 0) return;
    const values = [stale.map(({ webhookId }) => webhookId), maxPending];
    const { rows } = await transaction.query<{ webhookId: string; pending: number }>({
      name: 'webhook-pending',
      text: COUNT,
      values,
    });
    for (const { webhookId, pending } of rows) {
      counts.set(webhookId, { pending, addedSince: 0, countedMillis: nowMillis() });
    }
  };
  return {
    measure: async (transaction, webhooks) => {
      await refresh(transaction, webhooks);
      const full = new Set(webhooks.flatMap(({ webhookId, isFull }) => (isFull ? [webhookId] : [])));
      const roomOf = (webhookId: string): number => {
        const { pending = 0 } = counts.get(webhookId) ?? {};
        return full.has(webhookId) && pending > maxPending * FULL_SHARE ? 0 : maxPending - pending;
      };
      return {
        take: (webhookId) => {
          const count = counts.get(webhookId);
          if (roomOf(webhookId) <= 0 || !count) return false;
          count.pending += 1;
          count.addedSince += 1;
          return true;
        },
      };
    },
  };
}
