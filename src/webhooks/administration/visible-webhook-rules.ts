/**
 * What a USER sees of a webhook (R-B9, R-I1). A webhook exists for a USER when it has no filter, or when its filter
 * names at least one entity that the USER has access to. In the filter, the USER sees only the ids of such entities.
 * The path of the URL, the values of the headers and the body template are hidden, because they may hold credentials of
 * the receiver. The last execution and the counts are shown only when the webhook has a filter and the USER sees
 * everything that the filter names.
 */
import type { StoredWebhook, WebhookFilter } from '../webhook.ts';

/** Ids from the filters of webhooks, limited to the entities that the user has access to. */
export interface ReachedEntities {
  /** Sites that the user sees, in whole or in part. */
  readonly shownSites: ReadonlySet<number>;
  /** Sites of which the user sees every source. */
  readonly wholeSites: ReadonlySet<number>;
  readonly sources: ReadonlySet<number>;
  readonly variables: ReadonlySet<number>;
}

export type VisibleWebhook = Omit<StoredWebhook, keyof Outcome> & Partial<Outcome>;

type Outcome = Pick<StoredWebhook, 'lastExecution' | 'successCount' | 'failureCount'>;

/** Text shown in place of a hidden text. */
const HIDDEN = '…';

/** @returns the webhook as the user sees it; undefined when it does not exist for the user (R-B9). */
export function planVisible(webhook: StoredWebhook, reached: ReachedEntities): VisibleWebhook | undefined {
  const filter = narrow(webhook.filter, reached, reached.shownSites);
  if (isEmpty(filter) && !isEmpty(webhook.filter)) return undefined;
  const { lastExecution, successCount, failureCount, ...rest } = webhook;
  const { url, headers, bodyTemplate } = rest;
  return {
    ...rest,
    url: hidePath(url),
    headers: Object.fromEntries(Object.keys(headers).map((name) => [name, HIDDEN])),
    bodyTemplate: bodyTemplate === null ? null : HIDDEN,
    filter,
    ...(isReachedEntirely(webhook.filter, reached) && { lastExecution, successCount, failureCount }),
  };
}

/**
 * @returns true when there is a filter and the user sees everything it names. Only then are the last execution and the
 * counts shown: they reveal the activity of the entities that the filter names.
 */
function isReachedEntirely(filter: WebhookFilter, reached: ReachedEntities): boolean {
  return !isEmpty(filter) && countIds(narrow(filter, reached, reached.wholeSites)) === countIds(filter);
}

function narrow(
  { siteIds, sourceIds, variableIds }: WebhookFilter,
  { sources, variables }: ReachedEntities,
  sites: ReadonlySet<number>,
): WebhookFilter {
  const lists = { siteIds: within(siteIds, sites), sourceIds: within(sourceIds, sources) };
  const all = { ...lists, variableIds: within(variableIds, variables) };
  return Object.fromEntries(Object.entries(all).filter(([, ids]) => ids.length > 0));
}

function within(ids: readonly number[] = [], reached: ReadonlySet<number>): readonly number[] {
  return ids.filter((id) => reached.has(id));
}

function countIds(filter: WebhookFilter): number {
  return Object.values(filter).reduce((sum, ids) => sum + ids.length, 0);
}

function isEmpty(filter: WebhookFilter): boolean {
  return countIds(filter) === 0;
}

/**
 * Hides all but the origin, as in `https://receiver.example/…`: path and query may contain a credential of the
 * receiver.
 */
function hidePath(url: string): string {
  return `${new URL(url).origin}/${HIDDEN}`;
}
