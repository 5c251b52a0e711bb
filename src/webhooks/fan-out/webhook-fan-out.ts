/**
 * Fan-out of outbox events into messages of subscribed webhooks. It consumes the outbox, so the transaction that
 * removes an event also stores the messages of this event, exactly once across crashes (R-I8). When a webhook has a
 * full backlog, its new messages are dropped, and its history counts the dropped messages (R-I5). The fan-out does not
 * send; after the commit it wakes the deliverer.
 */
import type { Transaction } from '../../platform/database/database.ts';
import type { EventConsumer, OutboxEvent } from '../../platform/database/outbox.ts';
import type { WakeQueue } from '../../platform/queue.ts';
import { type BacklogLimit, openBacklogLimit } from './backlog-limit.ts';
import { openDropRecorder } from './drop-recorder.ts';
import { expandEvents } from './expand-events.ts';
import { type Occurrence, planMessages } from './filter-rules.ts';
import { findSubscribers, type Subscribers } from './find-subscribers.ts';
import { openMessageStore } from './store-messages.ts';

/**
 * Maximum number of variables in one message. A push to ten thousand variables is split into several messages, because
 * receivers may refuse larger messages.
 */
const MAX_VARIABLES = 1000;

export interface FanOutOptions {
  readonly queue: WakeQueue;
  /** Maximum number of waiting messages of a webhook. */
  readonly maxPending: number;
}

/** @returns the consumer for the outbox relay (R-I8). */
export function webhookFanOut({ queue, maxPending }: FanOutOptions): EventConsumer {
  const backlog = openBacklogLimit(maxPending, () => performance.now());
  return async (transaction, events) => {
    const subscribers = await findSubscribers(transaction, events);
    if (!subscribers) return undefined;
    const woken = await fanOut(transaction, events, subscribers, { backlog, maxPending });
    return woken.length === 0 ? undefined : () => queue.wake(woken);
  };
}

/** Stores the messages of events. @returns ids of the webhooks with new messages. */
async function fanOut(
  transaction: Transaction,
  events: readonly OutboxEvent[],
  { all, subscribersOf }: Subscribers,
  { backlog, maxPending }: { readonly backlog: BacklogLimit; readonly maxPending: number },
): Promise<readonly string[]> {
  const wanted = events.filter((event) => subscribersOf(event).length > 0);
  const expand = await expandEvents(transaction, wanted);
  const capacity = await backlog.measure(transaction, all);
  const store = openMessageStore(transaction);
  const drops = openDropRecorder(transaction, maxPending);
  const withMessages = new Set<string>();
  for (const event of wanted) {
    for (const occurrence of expand(event)) {
      const write = jsonWriter(occurrence);
      for (const { webhookId, filter } of subscribersOf(event)) {
        for (const message of planMessages(filter, occurrence, MAX_VARIABLES)) {
          if (capacity.tryTake(webhookId)) {
            withMessages.add(webhookId);
            await store.add({ ...message, webhookId, data: write(message) });
          } else drops.record(webhookId, message);
        }
      }
    }
  }
  await store.flush();
  const reopened = all.filter(({ webhookId, isFull }) => isFull && withMessages.has(webhookId));
  await drops.write(reopened.map(({ webhookId }) => webhookId));
  return [...withMessages];
}

/**
 * @returns a function that converts messages to JSON. Several webhooks may get `whole`, so the function converts
 *   `whole` only once.
 */
function jsonWriter(whole: Occurrence): (message: Occurrence) => string {
  let json: string | undefined;
  return (message) => {
    if (message !== whole) return JSON.stringify(message.data);
    json ??= JSON.stringify(whole.data);
    return json;
  };
}
