/**
 * Stores the webhooks of an account (R-I1); SecretVault encrypts their secrets and headers. visible-webhooks.ts decides
 * what a caller may see of them.
 */
import type { Queryable, Transaction } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import { isGuid } from '../platform/guid.ts';
import type { EventType } from './event-type.ts';
import { openHeaders, type StoredHeaders, sealHeaders } from './sealed-columns.ts';
import type { SecretVault } from './secret-vault.ts';
import type { StoredWebhook, WebhookFields } from './webhook.ts';

type WebhookRow = Omit<StoredWebhook, 'headers'> & { readonly headers: StoredHeaders };

/** SQL of the columns of a StoredWebhook. */
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

/** Columns of a WebhookTarget. While the former secret is valid, `secrets` contains both secrets (R-I3). */
export const TARGET_COLUMNS = `url, http_method as "httpMethod", headers, body_template as "bodyTemplate",
  array_remove(array[secret, case when former_secret_until > clock_timestamp() then former_secret end], null)
    as secrets`;

/** Maximum number of webhooks of an account. The limit exists because fan-out may read all of them for one event. */
const MAX_WEBHOOKS = 100;

/**
 * Reads a webhook of the account (R-I1).
 * @throws {DomainError} not_found when the account has no such webhook. A malformed id and a webhook of another account
 * cause the same error.
 */
export async function getWebhook(
  queryable: Queryable,
  vault: SecretVault,
  accountId: number,
  id: string,
): Promise<StoredWebhook> {
  const { rows } = await queryable.query<WebhookRow>(
    `select ${WEBHOOK_COLUMNS} from webhook where account_id = $1 and id = $2 and deleted_date is null`,
    [accountId, parseId(id)],
  );
  const [webhook] = rows;
  if (!webhook) throw noSuchWebhook();
  return openRow(vault, webhook, accountId);
}

/**
 * Lists the webhooks of the account (R-I1).
 * @param eventTypes the event types whose webhooks are listed; when empty, webhooks of every event type are listed.
 * @returns webhooks sorted by name.
 */
export async function listWebhooks(
  queryable: Queryable,
  vault: SecretVault,
  accountId: number,
  eventTypes: readonly EventType[] = [],
): Promise<readonly StoredWebhook[]> {
  const { rows } = await queryable.query<WebhookRow>(
    `select ${WEBHOOK_COLUMNS} from webhook
     where account_id = $1 and deleted_date is null and (cardinality($2::text[]) = 0 or event_type = any($2)) order by name, id`,
    [accountId, eventTypes],
  );
  return rows.map((row) => openRow(vault, row, accountId));
}

function openRow(vault: SecretVault, { headers, ...row }: WebhookRow, accountId: number): StoredWebhook {
  return { ...row, headers: openHeaders(vault, headers, accountId) };
}

/**
 * Reads a webhook with its secret, and locks the webhook until the end of the transaction (R-I1).
 * @throws {DomainError} not_found, in the same cases as `getWebhook`.
 */
export async function lockWebhook(
  transaction: Transaction,
  vault: SecretVault,
  accountId: number,
  id: string,
): Promise<{ readonly webhook: StoredWebhook; readonly secret: string }> {
  const { rows } = await transaction.query<{ secret: string }>(
    'select secret from webhook where account_id = $1 and id = $2 and deleted_date is null for no key update',
    [accountId, parseId(id)],
  );
  const [row] = rows;
  if (!row) throw noSuchWebhook();
  const webhook = await getWebhook(transaction, vault, accountId, id);
  return { webhook, secret: vault.open(row.secret, accountId) };
}

/** Stores a new webhook (R-I1). @throws {DomainError} conflict when the account already has 100 webhooks. */
export async function insertWebhook(
  transaction: Transaction,
  vault: SecretVault,
  accountId: number,
  fields: WebhookFields,
  secret: string,
): Promise<StoredWebhook> {
  await assertBelowLimit(transaction, accountId);
  const { rows } = await transaction.query<WebhookRow>(
    `insert into webhook (account_id, secret, name, url, event_type, is_enabled, http_method, headers, site_ids,
       source_ids, variable_ids, body_template)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning ${WEBHOOK_COLUMNS}`,
    [accountId, vault.seal(secret, accountId), ...toColumns(vault, accountId, fields)],
  );
  return openRow(vault, rows[0] ?? fail(), accountId);
}

/**
 * Writes the fields of a locked webhook. When the secret changes, the former secret stays valid for `overlapHours`
 * (R-I3). Enabling the webhook or changing its URL ends the failure period and the pause.
 * @param secret must differ from the current secret; null keeps the current secret.
 * @throws {Error} when the row does not exist.
 */
export async function updateWebhook(
  transaction: Transaction,
  vault: SecretVault,
  { accountId, id }: { readonly accountId: number; readonly id: string },
  fields: WebhookFields,
  secret: string | null,
  overlapHours: number,
): Promise<StoredWebhook> {
  const { rows } = await transaction.query<WebhookRow>(
    `update webhook set
       former_secret = case when $2::text is not null then secret else former_secret end,
       former_secret_until = case when $2::text is not null then clock_timestamp() + make_interval(hours => $13)
                                  else former_secret_until end,
       secret = coalesce($2, secret),
       disabled_reason = case when $6 then null else disabled_reason end,
       disabled_date = case when $6 then null else disabled_date end,
       failing_since = case when url = $4 and (is_enabled or not $6) then failing_since end,
       paused_until = case when url = $4 and (is_enabled or not $6) then paused_until end,
       name = $3, url = $4, event_type = $5, is_enabled = $6, http_method = $7, headers = $8, site_ids = $9,
       source_ids = $10, variable_ids = $11, body_template = $12, modified_date = clock_timestamp()
     where id = $1 returning ${WEBHOOK_COLUMNS}`,
    [id, secret && vault.seal(secret, accountId), ...toColumns(vault, accountId, fields), overlapHours],
  );
  return openRow(vault, rows[0] ?? fail(), accountId);
}

/**
 * Deletes a webhook: hides it and erases its credentials (R-I1). The row stays as a tombstone until
 * delivery/purge-history.ts has deleted the webhook's history. If this function deleted the history, which can have
 * millions of attempts, it would block the fan-out of the webhook's events for all that time.
 * @returns the name of the webhook.
 * @throws {DomainError} not_found when the account has no such webhook.
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

/**
 * Refuses a further webhook when the account has reached the limit. An advisory lock of the account makes concurrent
 * creations wait for each other; otherwise they could exceed the limit together.
 */
async function assertBelowLimit(transaction: Transaction, accountId: number): Promise<void> {
  await transaction.query(`select pg_advisory_xact_lock(hashtextextended('webhook ' || $1::int, 0))`, [accountId]);
  const { rows } = await transaction.query<{ count: number }>(
    'select count(*) from webhook where account_id = $1 and deleted_date is null',
    [accountId],
  );
  if ((rows[0]?.count ?? 0) < MAX_WEBHOOKS) return;
  throw new DomainError('conflict', `an account may have at most ${MAX_WEBHOOKS} webhooks; delete one first`);
}

function toColumns(vault: SecretVault, accountId: number, { filter, ...fields }: WebhookFields): readonly unknown[] {
  const { name, url, eventType, isEnabled, httpMethod, headers, bodyTemplate } = fields;
  const lists = [filter.siteIds ?? null, filter.sourceIds ?? null, filter.variableIds ?? null];
  return [name, url, eventType, isEnabled, httpMethod, sealHeaders(vault, headers, accountId), ...lists, bodyTemplate];
}

/** @throws {DomainError} not_found when the text is not an id. */
function parseId(id: string): string {
  if (!isGuid(id)) throw noSuchWebhook();
  return id;
}

function fail(): never {
  throw new Error('the webhook was not saved');
}

/** @returns the error for a webhook that does not exist or is hidden from the caller. */
export function noSuchWebhook(): DomainError {
  return new DomainError('not_found', 'the webhook does not exist');
}
