/**
 * From the outbox to the webhooks that want to hear of it: a consumer of the outbox, so that every event leads to its
 * messages exactly once, in the transaction that takes it from there, whatever dies (R-I8). Sending them is not its
 * business; it wakes who does, once the messages are committed.
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

/** So that a message of a push to ten thousand variables is of a size that receivers take. */
const MAX_VARIABLES = 1000;

export interface FanOutOptions {
  readonly queue: WakeQueue;
  /** Messages that may wait for one webhook. */
  readonly maxPending: number;
}

export function webhookFanOut({ queue, maxPending }: FanOutOptions): EventConsumer {
  const gauge = openBacklogLimit(maxPending, () => performance.now());
  return async (transaction, events) => {
    const subscribers = await findSubscribers(transaction, events);
    if (!subscribers) return undefined;
    const told = await tell(transaction, events, subscribers, { gauge, maxPending });
    return told.length === 0 ? undefined : () => queue.wake(told);
  };
}

/** @returns the webhooks with new messages. */
async function tell(
  transaction: Transaction,
  events: readonly OutboxEvent[],
  { all, of }: Subscribers,
  { gauge, maxPending }: { readonly gauge: BacklogLimit; readonly maxPending: number },
): Promise<readonly string[]> {
  const wanted = events.filter((event) => of(event).length > 0);
  const expand = await expandEvents(transaction, wanted);
  const rooms = await gauge.measure(transaction, all);
  const store = openMessageStore(transaction);
  const gaps = openDropRecorder(transaction, maxPending);
  const told = new Set<string>();
  for (const event of wanted) {
    for (const occurrence of expand(event)) {
      const write = jsonWriter(occurrence);
      for (const { webhookId, filter } of of(event)) {
        for (const message of planMessages(filter, occurrence, MAX_VARIABLES)) {
          if (rooms.take(webhookId)) {
            told.add(webhookId);
            await store.add({ ...message, webhookId, data: write(message) });
          } else gaps.note(webhookId, message);
        }
      }
    }
  }
  await store.flush();
  await gaps.write(all.flatMap(({ webhookId, isFull }) => (isFull && told.has(webhookId) ? [webhookId] : [])));
  return [...told];
}

/** Most webhooks want an occurrence whole: that is written once. */
function jsonWriter(whole: Occurrence): (message: Occurrence) => string {
  let json: string | undefined;
  return (message) => {
    if (message !== whole) return JSON.stringify(message.data);
    json ??= JSON.stringify(whole.data);
    return json;
  };
}
