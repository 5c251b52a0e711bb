/** Finds the webhooks subscribed to events, with one indexed query for all events of a relay pass (R-I2). */
import type { Transaction } from '../../platform/database/database.ts';
import type { OutboxEvent } from '../../platform/database/outbox.ts';
import type { WebhookFilter } from '../webhook.ts';
import { type Filter, toFilter } from './filter-rules.ts';

export interface Subscriber {
  readonly webhookId: string;
  /** Whether the last message was dropped because the backlog of the webhook was full. */
  readonly isFull: boolean;
  /** Filter of the webhook; undefined when the webhook gets every event of its type. */
  readonly filter: Filter | undefined;
}

interface SubscriberRow extends Omit<Subscriber, 'filter'> {
  readonly accountId: number;
  readonly type: string;
  readonly filter: WebhookFilter;
}

// With `for key share`, the statement waits while purge-history.ts removes the row of a deleted webhook, and then does
// not return this webhook: a message for it would violate the foreign key.
const FIND = `
  select webhook.id as "webhookId", webhook.account_id as "accountId", webhook.event_type as type,
         gap_event_id is not null as "isFull",
         jsonb_strip_nulls(jsonb_build_object(
           'siteIds', site_ids, 'sourceIds', source_ids, 'variableIds', variable_ids)) as filter
  from unnest($1::int[], $2::text[]) wanted (account_id, type)
  join webhook on webhook.account_id = wanted.account_id and webhook.event_type = wanted.type and webhook.is_enabled
  order by webhook.id
  for key share of webhook`;

export interface Subscribers {
  readonly all: readonly Subscriber[];
  readonly subscribersOf: (event: Pick<OutboxEvent, 'accountId' | 'type'>) => readonly Subscriber[];
}

/** @returns the webhooks that are subscribed to the events; undefined when there are none (R-I2). */
export async function findSubscribers(
  transaction: Transaction,
  events: readonly OutboxEvent[],
): Promise<Subscribers | undefined> {
  const kinds = new Map(events.map((event) => [keyOf(event), event]));
  const values = [[...kinds.values()].map((event) => event.accountId), [...kinds.values()].map((event) => event.type)];
  const { rows } = await transaction.query<SubscriberRow>({ name: 'webhook-subscribers', text: FIND, values });
  if (rows.length === 0) return undefined;
  const all = rows.map(({ filter, ...row }) => ({ ...row, filter: toFilter(filter) }));
  const byKind = Map.groupBy(all, keyOf);
  return { all, subscribersOf: (event) => byKind.get(keyOf(event)) ?? [] };
}

function keyOf({ accountId, type }: { readonly accountId: number; readonly type: string }): string {
  return `${accountId} ${type}`;
}
