/**
 * Finds the keys by which a document identifies stored resources. Skips the resources that the caller may not read
 * (R-B9).
 */
import type { Caller } from '../../../identity/caller/caller.ts';
import type { Queryable } from '../../../platform/database/database.ts';
import { selectResources } from '../../resource.ts';
import type { ReferenceKeys } from '../document/declaration-references.ts';
import { type Key, KIND_NAMES, KINDS, type Kind, type KindName, keyExpression } from '../document/kinds.ts';

/**
 * For each kind, the `occurrence` (kinds.ts) of each resource, by resource id. A resource whose key is unique within
 * its parent is absent.
 */
export type Occurrences = Readonly<Record<KindName, ReadonlyMap<number, number>>>;

/**
 * Column that holds the id of the parent. `readOccurrences` gives the numbers 1, 2, 3 … to resources that have the same
 * parent and the same key.
 */
const PARENT: Readonly<Record<KindName, string>> = {
  sites: 'site.account_id',
  sources: 'source.site_id',
  variables: 'variable.source_id',
};

/**
 * Numbers the resources that share a key within their parent, in the order of their ids. Resources that the caller may
 * not read are skipped and get no number.
 */
export async function readOccurrences(queryable: Queryable, caller: Caller): Promise<Occurrences> {
  const found: [KindName, ReadonlyMap<number, number>][] = [];
  for (const name of KIND_NAMES) found.push([name, await readShared(queryable, caller, KINDS[name])]);
  return Object.fromEntries(found) as Occurrences;
}

async function readShared(queryable: Queryable, caller: Caller, kind: Kind): Promise<ReadonlyMap<number, number>> {
  const { resource, name } = kind;
  const { where, values } = selectResources(resource, caller, []);
  const partition = `partition by ${PARENT[name]}, ${keyExpression(kind)}`;
  const { rows } = await queryable.query<{ id: number; occurrence: number }>(
    `select id, occurrence from (
       select ${resource.table}.id, row_number() over (${partition} order by ${resource.table}.id) as occurrence,
              count(*) over (${partition}) as total
       from ${resource.from} where ${where}) keyed
     where total > 1`,
    [...values],
  );
  return new Map(rows.map(({ id, occurrence }) => [id, occurrence]));
}

interface KeyRow {
  readonly siteId: number;
  readonly siteOwn: string | null;
  readonly siteName: string;
  readonly sourceId: number | null;
  readonly sourceOwn: string | null;
  readonly sourceName: string | null;
  readonly variableId: number | null;
  readonly variableOwn: string | null;
  readonly variableName: string | null;
}

const SITE_COLUMNS = `site.id as "siteId", site.external_id as "siteOwn", site.name as "siteName"`;
const SOURCE_COLUMNS = `source.id as "sourceId", source.serial_number as "sourceOwn", source.name as "sourceName"`;
const VARIABLE_COLUMNS = `variable.id as "variableId", variable.mapping_config as "variableOwn", variable.name as "variableName"`;
const NO_SOURCE = 'null::int as "sourceId", null as "sourceOwn", null as "sourceName"';
const NO_VARIABLE = 'null::int as "variableId", null as "variableOwn", null as "variableName"';

const SELECTED: Readonly<Record<KindName, readonly [columns: string, from: string]>> = {
  sites: [`${SITE_COLUMNS}, ${NO_SOURCE}, ${NO_VARIABLE}`, 'site'],
  sources: [`${SITE_COLUMNS}, ${SOURCE_COLUMNS}, ${NO_VARIABLE}`, 'source join site on site.id = source.site_id'],
  variables: [
    `${SITE_COLUMNS}, ${SOURCE_COLUMNS}, ${VARIABLE_COLUMNS}`,
    'variable join source on source.id = variable.source_id join site on site.id = source.site_id',
  ],
};

/** Reads the keys of resources and of their parents. Resources that the caller may not read are absent. */
export async function readKeys(
  queryable: Queryable,
  caller: Caller,
  occurrences: Occurrences,
  ids: Readonly<Partial<Record<KindName, readonly number[]>>>,
): Promise<ReferenceKeys> {
  const sites = new Map<number, Key>();
  const sources = new Map<number, Key & { readonly siteId: number }>();
  const variables = new Map<number, Key & { readonly sourceId: number }>();
  for (const name of KIND_NAMES) {
    for (const row of await selectKeys(queryable, caller, name, ids[name] ?? [])) {
      const { siteId, sourceId, variableId } = row;
      sites.set(siteId, keyOf(row.siteOwn, row.siteName, occurrences.sites.get(siteId)));
      if (sourceId === null) continue;
      sources.set(sourceId, { ...keyOf(row.sourceOwn, row.sourceName, occurrences.sources.get(sourceId)), siteId });
      if (variableId === null) continue;
      const key = keyOf(row.variableOwn, row.variableName, occurrences.variables.get(variableId));
      variables.set(variableId, { ...key, sourceId });
    }
  }
  return { sites, sources, variables };
}

function keyOf(own: string | null, name: string | null, occurrence: number | undefined): Key {
  return { own, name: name ?? '', occurrence };
}

async function selectKeys(
  queryable: Queryable,
  caller: Caller,
  name: KindName,
  ids: readonly number[],
): Promise<readonly KeyRow[]> {
  if (ids.length === 0) return [];
  const { resource } = KINDS[name];
  const condition = (parameter: string) => `${resource.table}.id = any(${parameter})`;
  const { where, values } = selectResources(resource, caller, [{ condition, ids }]);
  const [columns, from] = SELECTED[name];
  const { rows } = await queryable.query<KeyRow>(`select ${columns} from ${from} where ${where}`, [...values]);
  return rows;
}
