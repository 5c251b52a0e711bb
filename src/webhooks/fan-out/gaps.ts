/**
 * Messages that are not kept because too many wait for a webhook already: the newest, so that what its receiver gets when
 * it is back has no holes but one, at the end. The history shows each such gap as one entry that counts, not as a
 * million.
 */
import type { Transaction } from '../../platform/database.ts';
import type { Occurrence } from './filter-rules.ts';

export interface Gap {
  count: number;
  readonly first: Occurrence;
  last: Occurrence;
}

export interface Gaps {
  note(webhookId: string, message: Occurrence): void;
  /** Writes into the history what was noted, and ends the gaps of the webhooks given. */
  write(ended: readonly string[]): Promise<void>;
}

// A gap goes on until one message is kept again; then the entry stays as it is.
const WIDEN = `
  with hook as (
    select id, account_id, event_type, coalesce(gap_event_id, gen_random_uuid()) as event_id
    from webhook where id = $1 for no key update
  ), event as (
    insert into webhook_event (id, webhook_id, account_id, type, date, data)
    select event_id, id, account_id, event_type, $3::text::timestamptz, jsonb_build_object('notKept', $2::int8, 'from', $3::text, 'to', $4::text)
    from hook
    on conflict (id) do update set data = jsonb_build_object(
      'notKept', (webhook_event.data ->> 'notKept')::int8 + $2::int8, 'from', webhook_event.data -> 'from', 'to', $4::text)
    returning id, data
  ), marked as (
    update webhook set gap_event_id = event.id from event where webhook.id = $1
  )
  select id, data ->> 'notKept' || ' messages from ' || (data ->> 'from') || ' to ' || (data ->> 'to') || $5 as error
  from event`;

const SHOW = `
  with shown as (update webhook_attempt set error = $3 where event_id = $2 returning id)
  insert into webhook_attempt (event_id, webhook_id, attempt, state, error)
  select $2, $1, 0, 'Failed', $3 where not exists (select from shown)`;

const END = 'update webhook set gap_event_id = null where id = any($1::uuid[]) and gap_event_id is not null';

// In one order, so that two that hold several do not wait for each other in a circle.
const LOCK = 'select from webhook where id = any($1::uuid[]) order by id for no key update';

export function openGaps(transaction: Transaction, maxPending: number): Gaps {
  const gaps = new Map<string, Gap>();
  return {
    note: (webhookId, message) => {
      const gap = gaps.get(webhookId);
      if (gap) Object.assign(gap, { count: gap.count + 1, last: message });
      else gaps.set(webhookId, { count: 1, first: message, last: message });
    },
    write: async (ended) => {
      const touched = [...ended, ...gaps.keys()];
      if (touched.length === 0) return;
      await transaction.query(LOCK, [touched]);
      await transaction.query(END, [ended]);
      for (const [webhookId, gap] of gaps) await writeGap(transaction, webhookId, gap, maxPending);
    },
  };
}

async function writeGap(
  transaction: Transaction,
  webhookId: string,
  { count, first, last }: Gap,
  maxPending: number,
): Promise<void> {
  const why = ` were not kept: ${maxPending} waited to be sent already`;
  const { rows } = await transaction.query<{ id: string; error: string }>(WIDEN, [
    webhookId,
    count,
    first.date,
    last.date,
    why,
  ]);
  const [gap] = rows;
  if (gap) await transaction.query(SHOW, [webhookId, gap.id, gap.error]);
}
