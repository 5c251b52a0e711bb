/**
 * Reads webhooks as the caller may see them (R-B9). A MANAGER or an ADMIN sees every webhook of the account in full. A
 * USER sees only what `planVisible` returns.
 */
import type { Caller } from '../../identity/caller/caller.ts';
import { isReached, type Reach, readReach } from '../../identity/caller/site-reach.ts';
import type { Queryable } from '../../platform/database/database.ts';
import type { EventType } from '../event-type.ts';
import type { SecretVault } from '../secret-vault.ts';
import type { StoredWebhook } from '../webhook.ts';
import { getWebhook, listWebhooks, noSuchWebhook } from '../webhooks.ts';
import { planVisible, type ReachedEntities, type VisibleWebhook } from './visible-webhook-rules.ts';

/**
 * Lists the webhooks that the caller may see (R-B9).
 * @param eventTypes types of events; the list has only webhooks for these types. Empty means no limit.
 * @returns webhooks in order of name.
 */
export async function listVisible(
  queryable: Queryable,
  vault: SecretVault,
  caller: Caller,
  eventTypes: readonly EventType[],
): Promise<readonly VisibleWebhook[]> {
  return showTo(queryable, caller, await listWebhooks(queryable, vault, caller.accountId, eventTypes));
}

/**
 * Reads what the caller may see of a webhook (R-B9).
 * @throws {DomainError} not_found when the webhook does not exist or the caller may not see it at all.
 */
export async function getVisible(
  queryable: Queryable,
  vault: SecretVault,
  caller: Caller,
  id: string,
): Promise<VisibleWebhook> {
  const [webhook] = await showTo(queryable, caller, [await getWebhook(queryable, vault, caller.accountId, id)]);
  if (!webhook) throw noSuchWebhook();
  return webhook;
}

async function showTo(
  queryable: Queryable,
  caller: Caller,
  webhooks: readonly StoredWebhook[],
): Promise<readonly VisibleWebhook[]> {
  if (caller.role !== 'USER') return webhooks;
  const reached = await findReached(queryable, caller.accountId, readReach(caller), webhooks);
  return webhooks.flatMap((webhook) => planVisible(webhook, reached) ?? []);
}

const REACHED = `
  select 'site' as kind, site.id from site
  where site.account_id = $1 and site.id = any($2::int[]) and ($7::int[] is null or site.id = any($7))
  union all
  select 'wholeSite', site.id from site
  where site.account_id = $1 and site.id = any($2::int[]) and ($5::int[] is null or site.id = any($5))
  union all
  select 'source', source.id from source
  where source.account_id = $1 and source.id = any($3::int[]) and ${isReached('source.site_id', 'source.id', '$5', '$6')}
  union all
  select 'variable', variable.id from variable join source on source.id = variable.source_id
  where variable.account_id = $1 and variable.id = any($4::int[])
    and ${isReached('source.site_id', 'source.id', '$5', '$6')}`;

async function findReached(
  queryable: Queryable,
  accountId: number,
  { siteIds, sourceIds, shownSiteIds }: Reach,
  webhooks: readonly StoredWebhook[],
): Promise<ReachedEntities> {
  const named = (list: keyof StoredWebhook['filter']) => [
    ...new Set(webhooks.flatMap(({ filter }) => filter[list] ?? [])),
  ];
  const lists = [named('siteIds'), named('sourceIds'), named('variableIds')];
  const { rows } = await queryable.query<{ kind: string; id: number }>(REACHED, [
    ...[accountId, ...lists],
    ...[siteIds, sourceIds, shownSiteIds],
  ]);
  const idsOf = (kind: string) => new Set(rows.filter((row) => row.kind === kind).map(({ id }) => id));
  return {
    shownSites: idsOf('site'),
    wholeSites: idsOf('wholeSite'),
    sources: idsOf('source'),
    variables: idsOf('variable'),
  };
}
