/**
 * The lists of an exchange document and the members of their rows. A row of a site, source or variable has business
 * keys instead of ids. The key of such a resource is its identifier (`externalId`, `serialNumber` or `mappingConfig`),
 * or its name when it has no identifier. The row names its resource and the parents of the resource by their keys.
 * Resources that share a key within their parent also have an `occurrence`: 1 for the resource with the lowest id, 2
 * for the next.
 */
import type { Resource } from '../../resource.ts';
import { SITE } from '../../site.ts';
import { SOURCE } from '../../source.ts';
import { VARIABLE } from '../../variable.ts';

/** Value of the member `format` of a document: name and version of the format. */
export const FORMAT = 'tidemark-structure-1';

/** Every sheet has a column with this name. The column is `true` in a row that continues the texts of the row above. */
export const CONTINUED = 'continued';

/** Names of the lists of resources; the list of the parents comes before the list of their children. */
export const KIND_NAMES = ['sites', 'sources', 'variables'] as const;
export type KindName = (typeof KIND_NAMES)[number];
/**
 * Names of the lists of a document, in order. The sheets of a workbook have the same names. For `catalogues` see
 * entry-rows.ts, for `forms` see form-rows.ts.
 */
export const LIST_NAMES = ['catalogues', 'forms', ...KIND_NAMES] as const;
export type ListName = (typeof LIST_NAMES)[number];

/** Members of a row of the document's list `catalogues`. */
export const ENTRY_MEMBERS = ['catalogue', 'name', 'symbol', 'unitFamily', 'divisor', 'offset', 'aggregate'] as const;

/** Members of a row of the list `forms`. */
export const FORM_MEMBERS = ['entityType', 'name', 'groups'] as const;

/** Names of the members by which a row refers to a resource. */
export interface KeyMembers {
  /** Name of the member that holds the identifier of the resource. A resource may have no identifier. */
  readonly own: string;
  readonly name: string;
  readonly occurrence: string;
}

export interface Kind {
  readonly name: KindName;
  readonly resource: Resource;
  /** Name of the field that holds the identifier of the resource. */
  readonly keyField: string;
  /** Members by which a row names the resource that the row itself describes. */
  readonly self: KeyMembers;
  /** Members by which a row names its parents, outermost first. */
  readonly parents: readonly KeyMembers[];
  /** The members of a row that become fields of the resource; the key is the first. */
  readonly fields: readonly string[];
}

/**
 * Members that refer to a site, source or variable by its key. A row uses these members to name its site and its
 * source. A formula uses them to name the variable of each input, and the site or source of each form.
 */
export const REFERENCE: Readonly<Record<KindName, KeyMembers>> = {
  sites: { own: 'siteExternalId', name: 'siteName', occurrence: 'siteOccurrence' },
  sources: { own: 'sourceSerialNumber', name: 'sourceName', occurrence: 'sourceOccurrence' },
  variables: { own: 'mappingConfig', name: 'variableName', occurrence: 'variableOccurrence' },
};

export const KINDS: Readonly<Record<KindName, Kind>> = {
  sites: kind('sites', SITE, 'externalId', [], []),
  sources: kind('sources', SOURCE, 'serialNumber', [REFERENCE.sites], ['siteId']),
  variables: kind(
    'variables',
    VARIABLE,
    'mappingConfig',
    [REFERENCE.sites, REFERENCE.sources],
    ['sourceId', 'calculated'],
  ),
};

/** @param left the fields that are left out of `Kind.fields`, because a row expresses them in another way. */
function kind(
  name: KindName,
  resource: Resource,
  keyField: string,
  parents: readonly KeyMembers[],
  left: readonly string[],
): Kind {
  const others = Object.keys(resource.fields).filter((field) => ![keyField, 'name', ...left].includes(field));
  const self = { own: keyField, name: 'name', occurrence: 'occurrence' };
  return { name, resource, keyField, self, parents, fields: [keyField, 'name', ...others] };
}

/** Members of a row, in the order in which a document lists them. In a workbook, each member has a column. */
export function membersOf({ name, self, parents, fields }: Kind): readonly string[] {
  const above = parents.flatMap((parent) => [parent.own, parent.name, parent.occurrence]);
  const [own = '', ownName = '', ...others] = fields;
  return [...above, own, ownName, self.occurrence, ...others, ...(name === 'variables' ? ['calculated'] : [])];
}

/** Members of a row of the list `name`. In a workbook, each member has a column. */
export function listMembers(name: ListName): readonly string[] {
  if (name === 'catalogues') return ENTRY_MEMBERS;
  return name === 'forms' ? FORM_MEMBERS : membersOf(KINDS[name]);
}

export type DocumentRow = Readonly<Record<string, unknown>>;

/**
 * Key of a resource: its identifier, or its name when it has no identifier. When several resources of one parent have
 * the same key, `occurrence` tells them apart.
 */
export interface Key {
  readonly own: string | null;
  readonly name: string;
  readonly occurrence: number | undefined;
}

/** @returns the members that represent a key in a row or formula: identifier or name, and the occurrence if it is set. */
export function keyMembers(members: KeyMembers, { own, name, occurrence }: Key): Record<string, unknown> {
  return {
    ...(own?.trim() ? { [members.own]: own } : { [members.name]: name }),
    ...(occurrence !== undefined && { [members.occurrence]: occurrence }),
  };
}

/**
 * SQL expression for the key of a stored resource. The key is a text: `=` followed by the identifier, or `~` followed
 * by the name when there is no identifier.
 */
export function keyExpression({ resource, keyField }: Kind, alias: string = resource.table): string {
  const own = `${alias}.${resource.fields[keyField]?.column}`;
  return `case when ${own} ~ '[^[:space:]]' then '=' || ${own} else '~' || ${alias}.name end`;
}

/**
 * SQL condition that is true when a resource belongs to the account, for statements that find the resource by its id or
 * parent. `+ 0` keeps the planner from using an index on the account. With the index, an import into a new account
 * would read all variables of the account for each row.
 */
export function isOfAccount(alias: string, account: string): string {
  return `${alias}.account_id + 0 = ${account}`;
}
