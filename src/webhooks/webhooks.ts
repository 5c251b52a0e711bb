/** The webhooks of an account as they are stored (R-I1). Who may see what of them: visible-webhooks.ts. */
import type { Queryable } from '../platform/database.ts';
import { DomainError } from '../platform/errors.ts';
import type { Webhook, WebhookTarget } from './webhook.ts';

/** Columns as members of a Webhook. */
const WEBHOOK_COLUMNS = `id, name, url, event_type as "eventType", is_enabled as "isEnabled",
  http_method as "httpMethod", headers,
  jsonb_strip_nulls(jsonb_build_object('siteIds', site_ids, 'sourceIds', source_ids, 'variableIds', variable_ids))
    as filter,
  body_template as "bodyTemplate", disabled_reason as "disabledReason", created_date as "createdDate",
  modified_date as "modifiedDate"`;

/** Columns as members of a WebhookTarget: the former secret signs too while it is valid (R-I3). */
export const TARGET_COLUMNS = `url, http_method as "httpMethod", headers, body_template as "bodyTemplate",
  array_remove(array[secret, case when former_secret_until > clock_timestamp() then former_secret end], null)
    as secrets`;

const GUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** @throws DomainError not_found, in the same words for a webhook of another account and for what is no id. */
export async function getWebhook(queryable: Queryable, accountId: number, id: string): Promise<Webhook> {
  const { rows } = GUID.test(id)
    ? await queryable.query<Webhook>(`select ${WEBHOOK_COLUMNS} from webhook where account_id = $1 and id = $2`, [
        accountId,
        id,
      ])
    : { rows: [] };
  const [webhook] = rows;
  if (!webhook) throw noSuchWebhook();
  return webhook;
}

/** What its deliveries are made of. @throws DomainError not_found. */
export async function getTarget(queryable: Queryable, webhookId: string): Promise<WebhookTarget> {
  const { rows } = await queryable.query<WebhookTarget>(`select ${TARGET_COLUMNS} from webhook where id = $1`, [
    webhookId,
  ]);
  const [target] = rows;
  if (!target) throw noSuchWebhook();
  return target;
}

export function noSuchWebhook(): DomainError {
  return new DomainError('not_found', 'there is no such webhook');
}
