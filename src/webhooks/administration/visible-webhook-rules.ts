/**
 * What a USER is shown of a webhook (R-B9, R-I1): it is there when it concerns the whole account or a place within their
 * reach, with the places of its filter that are; what may hold a credential of the receiver's is hidden.
 */
import type { StoredWebhook, WebhookFilter } from '../webhook.ts';

/** Of the places the filters name, those the user reaches. */
export interface ReachedEntities {
  /** Sites to be shown themselves. */
  readonly shownSites: ReadonlySet<number>;
  /** Of these, the ones with all that is in them. */
  readonly wholeSites: ReadonlySet<number>;
  readonly sources: ReadonlySet<number>;
  readonly variables: ReadonlySet<number>;
}

export type VisibleWebhook = Omit<StoredWebhook, keyof Outcome> & Partial<Outcome>;

type Outcome = Pick<StoredWebhook, 'lastExecution' | 'successCount' | 'failureCount'>;

/** What stands in place of what is hidden. */
const HIDDEN = '…';

/** @returns undefined where it must be as if it did not exist. */
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
    ...(isReachedAsAWhole(webhook.filter, reached) && { lastExecution, successCount, failureCount }),
  };
}

/** Otherwise what became of it would tell of other places. */
function isReachedAsAWhole(filter: WebhookFilter, reached: ReachedEntities): boolean {
  return !isEmpty(filter) && countPlaces(narrow(filter, reached, reached.wholeSites)) === countPlaces(filter);
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

function countPlaces(filter: WebhookFilter): number {
  return Object.values(filter).reduce((sum, ids) => sum + ids.length, 0);
}

function isEmpty(filter: WebhookFilter): boolean {
  return countPlaces(filter) === 0;
}

/** `https://receiver.example/…`: path and query of receivers often are all that protects them. */
function hidePath(url: string): string {
  return `${new URL(url).origin}/${HIDDEN}`;
}
