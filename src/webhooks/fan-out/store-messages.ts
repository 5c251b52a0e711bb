/**
 * Stores messages in batches; the first attempt of each message is due immediately. A few events may lead to thousands
 * of messages of 100 KiB, which must not be in memory together.
 */
import type { Transaction } from '../../platform/database/database.ts';
import type { Occurrence } from './filter-rules.ts';

export interface NewMessage extends Pick<Occurrence, 'accountId' | 'type' | 'date'> {
  readonly webhookId: string;
  /** JSON text of the member `data` of the message. */
  readonly data: string;
}

export interface MessageStore {
  add(message: NewMessage): Promise<void>;
  /** Stores the messages that are not stored yet. */
  flush(): Promise<void>;
}

const MAX_MESSAGES = 1000;
const MAX_CHARACTERS = 4 << 20;

// Attempt ids ascend in message order, and break ties between equal due dates.
const STORE = `
  with message as materialized (
    select gen_random_uuid() as id, given.* from unnest($1::uuid[], $2::int[], $3::text[], $4::timestamptz[], $5::jsonb[])
      with ordinality given (webhook_id, account_id, type, date, data, ordinal)
  ), stored as (
    insert into webhook_event (id, webhook_id, account_id, type, date, data)
    select id, webhook_id, account_id, type, date, data from message
  )
  insert into webhook_attempt (event_id, webhook_id, due_date, date)
  select id, webhook_id, now(), now() from message order by ordinal`;

/** Opens a store that writes messages in batches, all in `transaction` (R-I8). */
export function openMessageStore(transaction: Transaction): MessageStore {
  let waiting: NewMessage[] = [];
  let characters = 0;
  const flush = async (): Promise<void> => {
    const messages = waiting;
    [waiting, characters] = [[], 0];
    if (messages.length > 0) await storeMessages(transaction, messages);
  };
  return {
    add: async (message) => {
      waiting.push(message);
      characters += message.data.length;
      if (waiting.length >= MAX_MESSAGES || characters >= MAX_CHARACTERS) await flush();
    },
    flush,
  };
}

async function storeMessages(transaction: Transaction, messages: readonly NewMessage[]): Promise<void> {
  const values = [
    messages.map(({ webhookId }) => webhookId),
    messages.map(({ accountId }) => accountId),
    messages.map(({ type }) => type),
    messages.map(({ date }) => date),
    messages.map(({ data }) => data),
  ];
  await transaction.query({ name: 'webhook-store', text: STORE, values });
}
