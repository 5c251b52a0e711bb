/**
 * Applies the filter of a webhook to an occurrence (R-I1). An occurrence matches when it is about a site, source or
 * variable of the filter. Without a match, no message is sent.
 */
import type { WebhookFilter } from '../webhook.ts';

/** Ids to compare with the ids of a filter. After a move, the old and the new parent are included. */
export interface Concern {
  readonly variableId?: number;
  readonly sourceIds: readonly number[];
  readonly siteIds: readonly number[];
}

/** Something that happened in an account. The filters of webhooks decide which webhooks get a message about it. */
export interface Occurrence {
  readonly accountId: number;
  readonly type: string;
  /** Instant of the occurrence, as ISO 8601 in UTC. */
  readonly date: string;
  /**
   * Plain JSON. If it has a list `variables`, a webhook gets only those elements of the list that match its filter. A
   * long list is divided among several messages.
   */
  readonly data: Readonly<Record<string, unknown>>;
  /**
   * The variables of a push or file, with their sources and sites. Filters need this list, because the `data` of a push
   * or file does not name the variables.
   */
  readonly concerns?: readonly Concern[];
}

export type Filter = { readonly [Name in keyof Required<WebhookFilter>]: ReadonlySet<number> };

/** @returns undefined for the empty filter, which matches everything (R-I1). */
export function toFilter({ siteIds, sourceIds, variableIds }: WebhookFilter): Filter | undefined {
  if (!siteIds && !sourceIds && !variableIds) return undefined;
  return { siteIds: new Set(siteIds), sourceIds: new Set(sourceIds), variableIds: new Set(variableIds) };
}

/** @returns true when the filter lists the variable, one of the sources or one of the sites (R-I1). */
export function isWanted(filter: Filter, { variableId, sourceIds, siteIds }: Concern): boolean {
  if (variableId !== undefined && filter.variableIds.has(variableId)) return true;
  return sourceIds.some((id) => filter.sourceIds.has(id)) || siteIds.some((id) => filter.siteIds.has(id));
}

/**
 * @returns the messages of an occurrence for one webhook, in order; no message when the filter matches no entity of the
 * occurrence (R-I1).
 * @param filter filter of the webhook. The value undefined matches everything.
 * @param maxVariables maximum number of variables in one message.
 */
export function planMessages(
  filter: Filter | undefined,
  occurrence: Occurrence,
  maxVariables: number,
): readonly Occurrence[] {
  const { type, data, concerns } = occurrence;
  if (filter && concerns) return concerns.some((concern) => isWanted(filter, concern)) ? [occurrence] : [];
  const variables = readVariables(data);
  if (!variables?.length) return !filter || isWanted(filter, readConcern(type, data)) ? [occurrence] : [];
  const wanted = filter ? variables.filter((variable) => isWanted(filter, readConcern('', variable))) : variables;
  if (wanted.length === variables.length && wanted.length <= maxVariables) return [occurrence];
  return Array.from({ length: Math.ceil(wanted.length / maxVariables) }, (_, part) => {
    const shared = wanted.slice(part * maxVariables, (part + 1) * maxVariables);
    return { ...occurrence, data: { ...data, variables: shared } };
  });
}

type Members = Readonly<Record<string, unknown>>;

function readVariables({ variables }: Members): readonly Members[] | undefined {
  return Array.isArray(variables) ? (variables as readonly Members[]) : undefined;
}

/**
 * Reads from `data` the ids of the variable, the sources and the sites that an event is about. In an event about a
 * site, source or variable, `data.id` is the id of that resource.
 * @param type type of the event; an empty string when `data` is an element of the event's list `variables`.
 */
export function readConcern(type: string, data: Members): Concern {
  const own = (kind: string) => (type.startsWith(kind) ? data.id : undefined);
  const variableId = readId(data.variableId ?? own('Variable'));
  return {
    ...(variableId !== undefined && { variableId }),
    sourceIds: readIds(data.sourceId, data.formerSourceId, own('Source')),
    siteIds: readIds(data.siteId, data.formerSiteId, own('Site')),
  };
}

function readIds(...values: readonly unknown[]): readonly number[] {
  return values.flatMap((value) => readId(value) ?? []);
}

function readId(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
