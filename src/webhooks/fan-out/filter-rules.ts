/**
 * What of an event a webhook is told (R-I1): its filter names sites, sources and variables, and one of them is enough.
 * An event of many variables is narrowed to those that match; nothing is told when none does.
 */
import type { WebhookFilter } from '../webhook.ts';

/** What an event, or a part of it, is about; a site moved away from counts as much as the one moved to. */
export interface Concern {
  readonly variableId?: number;
  readonly sourceIds: readonly number[];
  readonly siteIds: readonly number[];
}

/** What happened, before it is known who is told. */
export interface Occurrence {
  readonly accountId: number;
  readonly type: string;
  /** Instant of the event, ISO 8601 in UTC. */
  readonly date: string;
  /** Plain JSON. `variables`, where there are any, may be narrowed, and shared out over several messages. */
  readonly data: Readonly<Record<string, unknown>>;
}

export type Filter = { readonly [Name in keyof Required<WebhookFilter>]: ReadonlySet<number> };

/** @returns undefined for a filter that lets everything through. */
export function toFilter({ siteIds, sourceIds, variableIds }: WebhookFilter): Filter | undefined {
  if (!siteIds && !sourceIds && !variableIds) return undefined;
  return { siteIds: new Set(siteIds), sourceIds: new Set(sourceIds), variableIds: new Set(variableIds) };
}

export function isWanted(filter: Filter, { variableId, sourceIds, siteIds }: Concern): boolean {
  if (variableId !== undefined && filter.variableIds.has(variableId)) return true;
  return sourceIds.some((id) => filter.sourceIds.has(id)) || siteIds.some((id) => filter.siteIds.has(id));
}

/**
 * The messages of an occurrence for one webhook, in order; none when the filter lets nothing through.
 * @param filter undefined: everything is wanted.
 * @param maxVariables of a message.
 */
export function planMessages(
  filter: Filter | undefined,
  occurrence: Occurrence,
  maxVariables: number,
): readonly Occurrence[] {
  const { type, data } = occurrence;
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

/** Sites, sources and variables are called `id` in what tells of themselves. */
function readConcern(type: string, data: Members): Concern {
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
