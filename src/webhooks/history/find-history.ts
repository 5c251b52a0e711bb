/** Reads the history of a webhook, newest entry first: delivery attempts, and entries for dropped messages (R-I5). */
import type { Queryable } from '../../platform/database/database.ts';
import type { ReceivedResponse, SentRequest } from '../attempt.ts';
import type { EventType } from '../event-type.ts';

export const ATTEMPT_STATES = ['Pending', 'Succeeded', 'Failed'] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];

/** Entry of the history. Members without a value are absent; a Pending attempt has no request, response or error. */
export interface WebhookHistory {
  readonly id: string;
  readonly webhookId: string;
  /** Header `webhook-id`, the same for every attempt of a message. */
  readonly eventId: string;
  readonly eventType: EventType;
  /** Number of the attempt, starting at 1; 0 when the entry represents dropped messages. */
  readonly attempt: number;
  /** True when a manager requested this attempt as a replay. */
  readonly isReplay: boolean;
  readonly state: AttemptState;
  readonly date: string;
  readonly durationMs?: number;
  readonly request?: SentRequest;
  readonly response?: ReceivedResponse;
  readonly error?: string;
  /** Due date of a Pending attempt, or planned date of the retry of a Failed one. */
  readonly nextAttemptDate?: string;
}

export interface HistoryPage {
  /** States of the entries to list; an empty list means every state. */
  readonly states: readonly AttemptState[];
  readonly limit: number;
  readonly offset: number;
}

type HistoryRow = { readonly [Name in keyof WebhookHistory]-?: WebhookHistory[Name] | null };

const COLUMNS = `attempt.id::text, attempt.webhook_id as "webhookId", event_id as "eventId", event.type as "eventType",
  attempt, is_replay as "isReplay", state, attempt.date, duration_ms as "durationMs", request, response, error,
  case state when 'Pending' then due_date else next_attempt_date end as "nextAttemptDate"`;

// The inner query uses an index to find the attempts of one page. The join then reads only the events of these
// attempts.
const PAGE = `
  select ${COLUMNS} from (
    select * from webhook_attempt where webhook_id = $1 and (cardinality($2::text[]) = 0 or state = any($2))
    order by id desc limit $3 offset $4
  ) attempt join webhook_event event on event.id = attempt.event_id
  order by attempt.id desc`;

const PAGE_OF_STATE = PAGE.replace('(cardinality($2::text[]) = 0 or state = any($2))', 'state = $2');

const COUNT = `
  select count(*) from webhook_attempt where webhook_id = $1 and (cardinality($2::text[]) = 0 or state = any($2))`;

const ENTRY = `
  select ${COLUMNS} from webhook_attempt attempt join webhook_event event on event.id = attempt.event_id
  where attempt.id = $1`;

/** @returns one page of the history, newest entry first (R-I5). */
export async function listHistory(
  queryable: Queryable,
  webhookId: string,
  { states, limit, offset }: HistoryPage,
): Promise<readonly WebhookHistory[]> {
  const { statement, state } = planPage(states);
  const { rows } = await queryable.query<HistoryRow>(statement, [webhookId, state, limit, offset]);
  return rows.map(toHistory);
}

/**
 * @returns the statement that reads a page, and the value of its parameter $2. When `states` holds only Failed or only
 *   Pending, the statement can use the partial index on the attempts in that state (R-I5).
 */
export function planPage(states: readonly AttemptState[]): { readonly statement: string; readonly state: unknown } {
  const [state] = states;
  return states.length === 1 ? { statement: PAGE_OF_STATE, state } : { statement: PAGE, state: states };
}

/**
 * Counts the entries of the history of a webhook (R-I5).
 * @param states states of the entries to count; an empty list means every state.
 */
export async function countHistory(
  queryable: Queryable,
  webhookId: string,
  states: readonly AttemptState[],
): Promise<number> {
  const { rows } = await queryable.query<{ count: number }>(COUNT, [webhookId, states]);
  return rows[0]?.count ?? 0;
}

/** Reads one attempt (R-I5). @throws {Error} when the attempt does not exist. */
export async function getEntry(queryable: Queryable, id: string): Promise<WebhookHistory> {
  const { rows } = await queryable.query<HistoryRow>(ENTRY, [id]);
  const [row] = rows;
  if (!row) throw new Error(`webhook attempt ${id} does not exist`);
  return toHistory(row);
}

function toHistory(row: HistoryRow): WebhookHistory {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as unknown as WebhookHistory;
}
