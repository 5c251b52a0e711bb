/**
 * Applies the filter of a webhook to an occurrence (R-I1). A filter lists sites, sources and variables; one match is
 * enough. An occurrence whose data lists variables is narrowed to the matching variables, and divided into several
 * messages when too many variables match. Without a match there is no message.
 */
import type { WebhookFilter } from '../webhook.ts';

/**
 * Ids of the entities that an occurrence, or one part of it, is about. After a move, these include the ids of both the
 * old and the new parent.
 */
export interface Concern {
  readonly variableId?: number;
  readonly sourceIds: readonly number[];
  readonly siteIds: readonly number[];
}

/** Something that happened, before the filters of webhooks apply. */
export interface Occurrence {
  readonly accountId: number;
  readonly type: string;
  /** Instant at which it happened, as ISO 8601 in UTC. */
  readonly date: string;
  /** Plain JSON. Its `variables`, if any, may be narrowed and split over several messages. */
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

/** Whether the filter names an entity of the concern (R-I1). */
export function isWanted(filter: Filter, { variableId, sourceIds, siteIds }: Concern): boolean {
  if (variableId !== undefined && filter.variableIds.has(variableId)) return true;
  return sourceIds.some((id) => filter.sourceIds.has(id)) || siteIds.some((id) => filter.siteIds.has(id));
}

/**
 * @returns the messages of an occurrence for one webhook, in order; none when the filter matches nothing (R-I1).
 * @param filter undefined matches everything.
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
  if (!variables) return !filter || isWanted(filter, readConcern(type, data)) ? [occurrence] : [];
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
 * Reads the entities that an event names. An event about a site, source or variable has the id of that resource as
 * `id`.
 * @param type type of the event; empty when `data` is one entry of the event's list `variables`.
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
