/**
 * Limits the backlog of each webhook, so that a receiver that is down does not fill the disk. Counting a long backlog
 * for every event would slow the relay, so each process caches its counts: together, processes may exceed the limit by
 * the messages that they store between two counts.
 */
import type { Transaction } from '../../platform/database/database.ts';

export interface BacklogLimit {
  /**
   * Counts the messages of each backlog whose cached count is stale.
   * @returns the capacity of each backlog. Once a backlog is full, its capacity is 0 until a tenth of the limit is free
   * again.
   */
  measure(transaction: Transaction, webhooks: readonly LimitedWebhook[]): Promise<Capacity>;
}

export interface LimitedWebhook {
  readonly webhookId: string;
  /** Whether the last message was dropped because the backlog of the webhook was full. */
  readonly isFull: boolean;
}

export interface Capacity {
  /** Reserves capacity for one message. @returns false when the backlog is full. */
  tryTake(webhookId: string): boolean;
}

interface Count {
  pending: number;
  addedSince: number;
  readonly countedMillis: number;
}

const MIN_AGE_MS = 2000;
const MAX_AGE_MS = 30_000;
/** A count of 100,000 messages takes 12 to 44 ms, so the count of a longer backlog is cached for longer. */
const AGE_MS_PER_MESSAGE = 0.3;
const MAX_ADDED = 1000;
/**
 * A full backlog accepts messages again when it has shrunk to this fraction of the limit. A backlog that is not full
 * counts as nearly full when it exceeds this fraction.
 */
const FULL_SHARE = 0.9;
const MAX_ENTRIES = 10_000;

const COUNT = `
  select wanted.id as "webhookId", counted.pending from unnest($1::uuid[]) wanted (id)
  cross join lateral (
    select count(*) as pending
    from (select from webhook_attempt where webhook_id = wanted.id and state = 'Pending' limit $2) waiting
  ) counted`;

/**
 * Limits the backlog of each webhook (R-I5).
 * @param maxPending maximum number of messages that may wait for one webhook.
 * @param nowMillis monotonic clock.
 */
export function openBacklogLimit(maxPending: number, nowMillis: () => number): BacklogLimit {
  const counts = new Map<string, Count>();
  /**
   * The count of a nearly full backlog is reused only for a short time, because an outdated count could drop messages
   * needlessly.
   */
  const maxAgeMs = ({ pending }: Count, isFull: boolean): number =>
    !isFull && pending > maxPending * FULL_SHARE
      ? MIN_AGE_MS
      : Math.min(Math.max(pending * AGE_MS_PER_MESSAGE, MIN_AGE_MS), MAX_AGE_MS);
  const isStale = (count: Count | undefined, isFull: boolean): boolean =>
    !count ||
    nowMillis() - count.countedMillis > maxAgeMs(count, isFull) ||
    count.addedSince >= Math.min(MAX_ADDED, maxPending / 10);
  const refresh = async (transaction: Transaction, webhooks: readonly LimitedWebhook[]): Promise<void> => {
    // A cache that is too large is cleared. All `webhooks` are then counted again.
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
      const capacityOf = (webhookId: string): number => {
        const { pending = 0 } = counts.get(webhookId) ?? {};
        return full.has(webhookId) && pending > maxPending * FULL_SHARE ? 0 : maxPending - pending;
      };
      return {
        tryTake: (webhookId) => {
          const count = counts.get(webhookId);
          if (capacityOf(webhookId) <= 0 || !count) return false;
          count.pending += 1;
          count.addedSince += 1;
          return true;
        },
      };
    },
  };
}
