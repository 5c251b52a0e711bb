/** Reads the structure of an account as rows of a document, a batch at a time (R-B9). */
import type { Caller } from '../../../identity/caller/caller.ts';
import type { Queryable, Transaction } from '../../../platform/database/database.ts';
import { WHOLE } from '../../../platform/http/paging.ts';
import { readBatches } from '../../../platform/streaming/stream-listing.ts';
import { listResources, type ResourceObject, selectResources } from '../../resource.ts';
import type { Declarations } from '../../structure-routes.ts';
import { CATALOGUE_MEMBERS, type OwnNames, readOwnNames, toDocumentId } from '../document/catalogue-members.ts';
import {
  collectReferences,
  type Home,
  type ReferenceKeys,
  toDocumentDeclaration,
} from '../document/declaration-references.ts';
import {
  type DocumentRow,
  KIND_NAMES,
  KINDS,
  type Kind,
  type KindName,
  keyMembers,
  type ListName,
} from '../document/kinds.ts';
import { readEntryRows } from './read-entries.ts';
import { readFormRows } from './read-forms.ts';
import { type Occurrences, readKeys, readOccurrences } from './resource-keys.ts';

export interface RowServices {
  readonly present: Declarations['present'];
}

/** Consecutive rows of one list of the document. */
export interface RowBatch {
  readonly kind: ListName;
  readonly rows: readonly DocumentRow[];
}

/** For each kind, the SQL condition for the resources of the sites whose ids are in `parameter`, for example `$3`. */
const OF_SITES: Readonly<Record<KindName, (parameter: string) => string>> = {
  sites: (parameter) => `site.id = any(${parameter})`,
  sources: (parameter) => `source.site_id = any(${parameter})`,
  variables: (parameter) => `source.site_id = any(${parameter})`,
};

/**
 * Yields the rows that the caller may read, in the order in which a document contains them.
 * @param transaction holds the snapshot; no other query can use the transaction until the iteration ends.
 * @param siteIds ids of the sites to yield, with their sources and variables, and the catalogue entries and forms that
 *   they use. When `siteIds` is empty, all rows are yielded.
 */
export async function* readRows(
  services: RowServices,
  transaction: Transaction,
  caller: Caller,
  siteIds: readonly number[],
): AsyncGenerator<RowBatch> {
  const occurrences = await readOccurrences(transaction, caller);
  const view = { caller, occurrences, names: await readOwnNames(transaction, caller.accountId) };
  yield { kind: 'catalogues', rows: await readEntryRows(transaction, caller.accountId, siteIds) };
  yield { kind: 'forms', rows: await readFormRows(transaction, caller.accountId, siteIds, view.names) };
  for (const name of KIND_NAMES) {
    const kind = KINDS[name];
    const selection = selectResources(kind.resource, caller, [{ condition: OF_SITES[name], ids: siteIds }]);
    const listing = listResources(selection, Object.keys(kind.resource.fields));
    for await (const items of readBatches(transaction, listing, WHOLE)) {
      yield { kind: name, rows: await toRows(services, transaction, view, kind, items) };
    }
  }
}

/** Data that the rows of an export depend on, besides the resources themselves. */
export interface View {
  readonly caller: Caller;
  /** Occurrence numbers (kinds.ts) of the resources that the caller may read. */
  readonly occurrences: Occurrences;
  /** Names of the account's own catalogue entries, by id. */
  readonly names: OwnNames;
}

/** Converts stored resources to rows, in the same order. */
export async function toRows(
  { present }: RowServices,
  queryable: Queryable,
  { caller, occurrences, names }: View,
  kind: Kind,
  items: readonly ResourceObject[],
): Promise<readonly DocumentRow[]> {
  const shown = kind.name === 'variables' ? await present(queryable, caller.accountId, items) : items;
  const references = collectReferences(shown.map(({ calculated }) => calculated));
  const keys = await readKeys(queryable, caller, occurrences, {
    ...references,
    [kind.name]: [...references[kind.name], ...items.map(({ id }) => id)],
  });
  const inCatalogue = (field: string) => Object.hasOwn(CATALOGUE_MEMBERS[kind.name], field);
  return shown.map((item) => {
    const home = homeOf(kind, item, keys);
    const site = home.siteId === undefined ? undefined : keys.sites.get(home.siteId);
    const source = home.sourceId === undefined ? undefined : keys.sources.get(home.sourceId);
    const [ofSite, ofSource] = kind.parents;
    const { calculated } = item;
    const [, , ...fields] = kind.fields;
    return {
      ...(ofSite && site && keyMembers(ofSite, site)),
      ...(ofSource && source && keyMembers(ofSource, source)),
      ...(isBlank(item[kind.keyField]) ? {} : { [kind.keyField]: item[kind.keyField] }),
      name: item.name,
      ...occurrenceOf(occurrences[kind.name].get(item.id)),
      ...Object.fromEntries(
        fields.map((field) => [field, inCatalogue(field) ? toDocumentId(item[field], names) : item[field]]),
      ),
      ...(kind.name === 'variables' && {
        calculated: isDeclaration(calculated) ? toDocumentDeclaration(calculated, home as Home, keys, names) : null,
      }),
    };
  });
}

/**
 * @returns true for an absent or blank identifier. An exported row omits a blank identifier, because an import could
 * not distinguish it from an empty cell.
 */
function isBlank(identifier: unknown): boolean {
  return typeof identifier !== 'string' || identifier.trim() === '';
}

function occurrenceOf(occurrence: number | undefined): { readonly occurrence?: number } {
  return occurrence === undefined ? {} : { occurrence };
}

function homeOf({ name }: Kind, item: ResourceObject, { sources }: ReferenceKeys): Partial<Home> {
  if (name === 'sites') return {};
  if (name === 'sources') return { siteId: item.siteId as number };
  const sourceId = item.sourceId as number;
  const siteId = sources.get(sourceId)?.siteId;
  return { sourceId, ...(siteId !== undefined && { siteId }) };
}

function isDeclaration(calculated: unknown): calculated is Readonly<Record<string, unknown>> {
  return typeof calculated === 'object' && calculated !== null;
}
