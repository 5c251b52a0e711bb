/**
 * Parses a row of the list `sites`, `sources` or `variables` of an imported document. The parser runs in the process
 * that reads the document.
 */
import type { ErrorDetail } from '../../../platform/errors.ts';
import { describeIssue } from '../../../platform/http/schema-words.ts';
import { type KeyMembers, KINDS, type Kind, type KindName, type ListName } from './kinds.ts';
import { ROW_SCHEMAS } from './row-schema.ts';

/** A parsed row of a document, ready to be staged. */
export interface StagedRow {
  readonly kind: ListName;
  /** Place of the row: JSON path, or sheet and row number. */
  readonly place: string;
  readonly site: KeyReference | undefined;
  readonly source: KeyReference | undefined;
  readonly self: KeyReference;
  /** JSON object with the values to store, by column. For a row of `catalogues` or `forms`: the members of the row. */
  readonly members: string;
  /**
   * JSON text of the row's declaration. The text `null` clears the stored declaration. Undefined when the row has no
   * member `calculated`.
   */
  readonly calculated: string | undefined;
}

/** Refers to a resource, a catalogue entry or a form by its key. */
export interface KeyReference {
  /**
   * The key as one text: `=` and an identifier, or `~` and a name. For a form, `~` is followed by the entity type and
   * the name. SQL compares these texts.
   */
  readonly key: string;
  /** Position of the resource among the resources with this key (kinds.ts), from 1; undefined when none is given. */
  readonly occurrence: number | undefined;
}

type Members = Readonly<Record<string, unknown>>;
type PathOf = (member: string) => string;

/** Values that replace null in columns that cannot be null. The database has the same default values. */
const RESET: Readonly<Record<KindName, Members>> = {
  sites: { client_data: {} },
  sources: { tags: [], client_data: {} },
  variables: { name: '', divider: 1, is_default: false, is_versioned: false, client_data: {} },
};

/** If the row of a new resource omits a member, the column of this member gets one of these default values. */
export const NEW_COLUMNS = RESET;

/** Parses a row. @returns the row, or its problems with their paths. */
export function parseRow(
  name: KindName,
  place: string,
  pathOf: PathOf,
  value: unknown,
): StagedRow | { readonly problems: readonly ErrorDetail[] } {
  const kind = KINDS[name];
  const result = ROW_SCHEMAS[name].safeParse(value, { error: describeIssue });
  if (!result.success) {
    const problems = result.error.issues.map(({ path, message }) => ({ path: pathTo(place, pathOf, path), message }));
    return { problems };
  }
  const row = result.data;
  const problems: ErrorDetail[] = [];
  const parents = kind.parents.map((members) => readKey(row, members, place, pathOf, problems));
  const self = readSelf(kind, row, place, pathOf, problems);
  if (problems.length > 0 || !self) return { problems };
  const { calculated } = row;
  return {
    ...{ kind: name, place, site: parents[0], source: parents[1], self },
    members: JSON.stringify(toColumns(kind, row)),
    calculated: calculated === undefined ? undefined : JSON.stringify(calculated),
  };
}

/**
 * @returns the path of a problem. For a problem of the whole row, the path is `place`. For a problem of one member of
 * the row, it is the path of the member, followed by the JSON path inside the member.
 */
export function pathTo(place: string, pathOf: PathOf, [first, ...rest]: readonly PropertyKey[]): string {
  if (first === undefined) return place;
  return rest.reduce<string>(
    (text, part) => text + (typeof part === 'number' ? `[${part}]` : `.${String(part)}`),
    pathOf(String(first)),
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Identifiers that are stored without white space around them. */
const TRIMMED: ReadonlySet<string> = new Set(['externalId', 'siteExternalId', 'mappingConfig']);

/**
 * Reads the key by which an imported row, an input or a form names a resource.
 * @returns undefined when `row` has no identifier and no name.
 */
export function readReference(row: Members, members: KeyMembers): KeyReference | undefined {
  const [own, name, occurrence] = [textOf(row[members.own]), row[members.name], row[members.occurrence]];
  const key =
    own === undefined
      ? typeof name === 'string'
        ? `~${name}`
        : undefined
      : `=${TRIMMED.has(members.own) ? own.trim() : own}`;
  return key === undefined ? undefined : { key, occurrence: typeof occurrence === 'number' ? occurrence : undefined };
}

function readKey(
  row: Members,
  members: KeyMembers,
  place: string,
  _pathOf: PathOf,
  problems: ErrorDetail[],
): KeyReference | undefined {
  const found = readReference(row, members);
  if (!found) problems.push({ path: place, message: `must have ${members.own} or ${members.name}` });
  return found;
}

function readSelf(
  { name, self, keyField }: Kind,
  row: Members,
  place: string,
  pathOf: PathOf,
  problems: ErrorDetail[],
): KeyReference | undefined {
  if (row.name === null && name !== 'variables') problems.push({ path: pathOf('name'), message: 'must not be null' });
  const found = readReference({ ...row, ...(name === 'variables' && { name: row.name ?? '' }) }, self);
  if (!found) problems.push({ path: place, message: `must have ${keyField} or name` });
  return found;
}

/**
 * @returns the values to store, by column. An empty identifier is left out, so that the stored identifier is not
 * cleared.
 */
function toColumns({ name, resource, fields, keyField }: Kind, row: Members): Members {
  const entries = fields.flatMap((field) => {
    const value = row[field];
    const { column, members } = resource.fields[field] ?? {};
    if (value === undefined || column === undefined || (field === keyField && textOf(value) === undefined)) return [];
    // A site always has a time zone, so a null time zone does not change the site.
    if (value === null)
      return column === 'time_zone_id' && name === 'sites' ? [] : [[column, RESET[name][column] ?? null]];
    return [[column, members ? members[value as string] : value]];
  });
  return Object.fromEntries(entries);
}
