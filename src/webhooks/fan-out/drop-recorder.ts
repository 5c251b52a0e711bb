/**
 * Records messages that are dropped because the backlog of a webhook is full. The messages of a webhook that are
 * dropped between two stored messages form one gap. The history has one entry for each gap; the entry states how many
 * messages were dropped.
 */
import type { Transaction } from '../../platform/database/database.ts';
import type { Occurrence } from './filter-rules.ts';

export interface Gap {
  count: number;
  readonly first: Occurrence;
  last: Occurrence;
}

export interface DropRecorder {
  record(webhookId: string, message: Occurrence): void;
  /**
   * Ends the current gap of each webhook in `ended`, so that the next dropped message of the webhook begins a new gap.
   * Then writes the recorded drops of all webhooks to the history.
   * @param ended ids of the webhooks for which a message was stored after messages had been dropped.
   */
  write(ended: readonly string[]): Promise<void>;
}

// The relay of the outbox waits for these statements. So each statement handles the gaps of all webhooks at once.
const WIDEN = `
  with hook as materialized (
    select webhook.id, account_id, event_type, coalesce(gap_event_id, gen_random_uuid()) as event_id, gap.*
    from unnest($1::uuid[], $2::int8[], $3::text[], $4::text[]) gap (webhook_id, count, first_date, last_date)
    join webhook on webhook.id = gap.webhook_id
  ), event as (
    insert into webhook_event (id, webhook_id, account_id, type, date, data)
    select event_id, id, account_id, event_type, first_date::timestamptz,
           jsonb_build_object('notKept', count, 'from', first_date, 'to', last_date)
    from hook
    on conflict (id) do update set data = webhook_event.data || jsonb_build_object(
      'notKept', (webhook_event.data ->> 'notKept')::int8 + (excluded.data ->> 'notKept')::int8,
      'to', excluded.data -> 'to')
    returning id, webhook_id, data
  ), marked as (
    update webhook set gap_event_id = event.id from event
    where webhook.id = event.webhook_id and gap_event_id is distinct from event.id
  )
  select id as "eventId", webhook_id as "webhookId",
         case data ->> 'notKept'
           when '1' then '1 message of ' || (data ->> 'from') || ' was'
           else (data ->> 'notKept') || ' messages from ' || (data ->> 'from') || ' to ' || (data ->> 'to') || ' were'
         end || $5 as error
  from event`;

const SHOW = `
  with gap as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::text[]) given (webhook_id, event_id, error)
  ), shown as (
    update webhook_attempt set error = gap.error from gap where webhook_attempt.event_id = gap.event_id
    returning webhook_attempt.event_id
  )
  insert into webhook_attempt (event_id, webhook_id, attempt, state, error)
  select event_id, webhook_id, 0, 'Failed', error from gap where event_id not in (select event_id from shown)`;

const END = 'update webhook set gap_event_id = null where id = any($1::uuid[]) and gap_event_id is not null';

// Locks the rows in the order of their ids, so that two transactions that lock several webhooks cannot deadlock.
const LOCK = 'select from webhook where id = any($1::uuid[]) order by id for no key update';

/**
 * Opens the recorder of dropped messages (R-I5).
 * @param maxPending maximum number of waiting messages; the history entry of each gap states this maximum.
 */
export function openDropRecorder(transaction: Transaction, maxPending: number): DropRecorder {
  const gaps = new Map<string, Gap>();
  return {
    record: (webhookId, message) => {
      const gap = gaps.get(webhookId);
      if (gap) Object.assign(gap, { count: gap.count + 1, last: message });
      else gaps.set(webhookId, { count: 1, first: message, last: message });
    },
    write: async (ended) => {
      const touched = [...ended, ...gaps.keys()];
      if (touched.length === 0) return;
      await transaction.query(LOCK, [touched]);
      await transaction.query(END, [ended]);
      if (gaps.size > 0) await writeGaps(transaction, gaps, maxPending);
    },
  };
}

async function writeGaps(transaction: Transaction, gaps: ReadonlyMap<string, Gap>, maxPending: number): Promise<void> {
  const noted = [...gaps.values()];
  const { rows } = await transaction.query<{ eventId: string; webhookId: string; error: string }>(WIDEN, [
    [...gaps.keys()],
    noted.map(({ count }) => count),
    noted.map(({ first }) => first.date),
    noted.map(({ last }) => last.date),
    ` dropped: the maximum of ${maxPending} waiting messages was reached`,
  ]);
  await transaction.query(SHOW, [
    rows.map(({ webhookId }) => webhookId),
    rows.map(({ eventId }) => eventId),
    rows.map(({ error }) => error),
  ]);
}
