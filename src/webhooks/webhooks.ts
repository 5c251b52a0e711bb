/** The webhooks of an account as they are stored (R-I1). Who may see what of them: visible-webhooks.ts. */
import type { Queryable, Transaction } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import { isGuid } from '../platform/guid.ts';
import type { EventType } from './event-type.ts';
import type { StoredWebhook, WebhookFields, WebhookTarget } from './webhook.ts';

/** Columns as members of a StoredWebhook. */
const WEBHOOK_COLUMNS = `id, name, url, event_type as "eventType", is_enabled as "isEnabled",
  http_method as "httpMethod", headers,
  jsonb_strip_nulls(jsonb_build_object('siteIds', site_ids, 'sourceIds', source_ids, 'variableIds', variable_ids))
    as filter,
  body_template as "bodyTemplate", disabled_reason as "disabledReason", created_date as "createdDate",
  modified_date as "modifiedDate",
  case when last_attempt_state is not null
       then jsonb_build_object('state', last_attempt_state, 'date',
              replace(to_jsonb(last_attempt_date) #>> '{}', '+00:00', 'Z')) end as "lastExecution",
  success_count as "successCount", failure_count as "failureCount"`;

/** Columns as members of a WebhookTarget: the former secret signs too while it is valid (R-I3). */
export const TARGET_COLUMNS = `url, http_method as "httpMethod", headers, body_template as "bodyTemplate",
  array_remove(array[secret, case when former_secret_until > clock_timestamp() then former_secret end], null)
    as secrets`;

/** Of an account: they are read as a whole when an event is to be told. */
const MAX_WEBHOOKS = 100;

/** @throws DomainError not_found, in the same words for a webhook of another account and for what is no id. */
export async function getWebhook(queryable: Queryable, accountId: number, id: string): Promise<StoredWebhook> {
  const { rows } = await queryable.query<StoredWebhook>(
    `select ${WEBHOOK_COLUMNS} from webhook where account_id = $1 and id = $2 and deleted_date is null`,
    [accountId, parseId(id)],
  );
  const [webhook] = rows;
  if (!webhook) throw noSuchWebhook();
  return webhook;
}

/** What its deliveries are made of. @throws DomainError not_found. */
export async function getTarget(queryable: Queryable, webhookId: string): Promise<WebhookTarget> {
  const { rows } = await queryable.query<WebhookTarget>(
    `select ${TARGET_COLUMNS} from webhook where id = $1 and deleted_date is null`,
    [webhookId],
  );
  const [target] = rows;
  if (!target) throw noSuchWebhook();
  return target;
}

/** In order of name. @param eventTypes none: of all types. */
export async function listWebhooks(
  queryable: Queryable,
  accountId: number,
  eventTypes: readonly EventType[] = [],
): Promise<readonly StoredWebhook[]> {
  const { rows } = await queryable.query<StoredWebhook>(
    `select ${WEBHOOK_COLUMNS} from webhook
     where account_id = $1 and deleted_date is null and (cardinality($2::text[]) = 0 or event_type = any($2)) order by name, id`,
    [accountId, eventTypes],
  );
  return rows;
}

/**
 * As `getWebhook`, with its secret; nobody else changes or deletes it until the end of the transaction.
 * @throws DomainError not_found.
 */
export async function lockWebhook(
  transaction: Transaction,
  accountId: number,
  id: string,
): Promise<{ readonly webhook: StoredWebhook; readonly secret: string }> {
  const { rows } = await transaction.query<{ secret: string }>(
    'select secret from webhook where account_id = $1 and id = $2 and deleted_date is null for no key update',
    [accountId, parseId(id)],
  );
  const [row] = rows;
  if (!row) throw noSuchWebhook();
  return { webhook: await getWebhook(transaction, accountId, id), secret: row.secret };
}

/** @throws DomainError conflict when the account has as many as it may. */
export async function insertWebhook(
  transaction: Transaction,
  accountId: number,
  fields: WebhookFields,
  secret: string,
): Promise<StoredWebhook> {
  await assertBelowLimit(transaction, accountId);
  const { rows } = await transaction.query<StoredWebhook>(
    `insert into webhook (account_id, secret, name, url, event_type, is_enabled, http_method, headers, site_ids,
       source_ids, variable_ids, body_template)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning ${WEBHOOK_COLUMNS}`,
    [accountId, secret, ...toColumns(fields)],
  );
  return rows[0] ?? fail();
}

/**
 * Writes the fields of a webhook that is locked. A new secret leaves the one before valid beside it for a while (R-I3).
 * Enabled again, it starts anew, as it does with another receiver: what failed before counts no more.
 * @param secret null: keeps the one it has.
 */
export async function updateWebhook(
  transaction: Transaction,
  id: string,
  fields: WebhookFields,
  secret: string | null,
  overlapHours: number,
): Promise<StoredWebhook> {
  const { rows } = await transaction.query<StoredWebhook>(
    `update webhook set
       former_secret = case when $2 <> secret then secret else former_secret end,
       former_secret_until = case when $2 <> secret then clock_timestamp() + make_interval(hours => $13)
                                  else former_secret_until end,
       secret = coalesce($2, secret),
       disabled_reason = case when $6 then null else disabled_reason end,
       disabled_date = case when $6 then null else disabled_date end,
       failing_since = case when url = $4 and (is_enabled or not $6) then failing_since end,
       paused_until = case when url = $4 and (is_enabled or not $6) then paused_until end,
       name = $3, url = $4, event_type = $5, is_enabled = $6, http_method = $7, headers = $8, site_ids = $9,
       source_ids = $10, variable_ids = $11, body_template = $12, modified_date = clock_timestamp()
     where id = $1 returning ${WEBHOOK_COLUMNS}`,
    [id, secret, ...toColumns(fields), overlapHours],
  );
  return rows[0] ?? fail();
}

/**
 * Takes it away from everybody, with its credentials. Its row goes with its history (delivery/purge-history.ts): removing
 * millions of tries here would take minutes, while every event waits that may have to be told to it.
 * @throws DomainError not_found.
 * @returns its name.
 */
export async function deleteWebhook(transaction: Transaction, accountId: number, id: string): Promise<string> {
  const { rows } = await transaction.query<{ name: string }>(
    `update webhook set deleted_date = clock_timestamp(), is_enabled = false, url = '', headers = '{}', secret = '',
       former_secret = null, body_template = null, site_ids = null, source_ids = null, variable_ids = null
     where account_id = $1 and id = $2 and deleted_date is null returning name`,
    [accountId, parseId(id)],
  );
  const [row] = rows;
  if (!row) throw noSuchWebhook();
  return row.name;
}

/** Those who create at the same time take turns, so that together they keep within the limit. */
async function assertBelowLimit(transaction: Transaction, accountId: number): Promise<void> {
  await transaction.query(`select pg_advisory_xact_lock(hashtextextended('webhook ' || $1::int, 0))`, [accountId]);
  const { rows } = await transaction.query<{ count: number }>(
    'select count(*) from webhook where account_id = $1 and deleted_date is null',
    [accountId],
  );
  if ((rows[0]?.count ?? 0) < MAX_WEBHOOKS) return;
  throw new DomainError('conflict', `the account has ${MAX_WEBHOOKS} webhooks, and may have no more`);
}

function toColumns({ filter, ...fields }: WebhookFields): readonly unknown[] {
  const { name, url, eventType, isEnabled, httpMethod, headers, bodyTemplate } = fields;
  const places = [filter.siteIds ?? null, filter.sourceIds ?? null, filter.variableIds ?? null];
  return [name, url, eventType, isEnabled, httpMethod, JSON.stringify(headers), ...places, bodyTemplate];
}

/** @throws DomainError not_found: what is no id names nothing. */
function parseId(id: string): string {
  if (!isGuid(id)) throw noSuchWebhook();
  return id;
}

function fail(): never {
  throw new Error('the webhook was not written');
}

export function noSuchWebhook(): DomainError {
  return new DomainError('not_found', 'there is no such webhook');
}
