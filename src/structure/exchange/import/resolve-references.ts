/**
 * Finds the sites, sources, variables and units that are named in the formulas of a document. Writes their ids into the
 * declarations.
 */
import type { Queryable } from '../../../platform/database/database.ts';
import type { ErrorDetail } from '../../../platform/errors.ts';
import type { NewDeclaration } from '../../structure-routes.ts';
import { isEntryName, readIdsByName, unknownName } from '../document/catalogue-members.ts';
import { isSourceForm, mapFormulas } from '../document/declaration-references.ts';
import { isOfAccount, KINDS, type KindName, keyExpression, REFERENCE } from '../document/kinds.ts';
import { type KeyReference, readReference } from '../document/parse-row.ts';
import type { ApplyRef, DeclarationRow } from './apply-context.ts';

type Members = Readonly<Record<string, unknown>>;

/** Keys by which an entry of a declaration (an input or a form) names a site, a source and a variable. */
interface Named {
  readonly site: KeyReference | undefined;
  readonly source: KeyReference | undefined;
  readonly variable: KeyReference | undefined;
}

interface Lookup {
  readonly parentId: number;
  readonly reference: KeyReference;
}

/** @returns the declarations that could be resolved, with ids, and the problems of the other declarations. */
export async function resolveReferences(
  queryable: Queryable,
  applied: ApplyRef,
  rows: readonly DeclarationRow[],
): Promise<{ readonly declarations: readonly NewDeclaration[]; readonly problems: readonly ErrorDetail[] }> {
  const found = await findNamed(queryable, applied.caller.accountId, rows);
  const units = await findNamedUnits(queryable, applied.caller.accountId, rows);
  const problems: ErrorDetail[] = [];
  const declarations = rows.flatMap(({ place, targetId, sourceId, siteId, calculated }): NewDeclaration[] => {
    if (calculated === null) return [{ variableId: targetId, sourceId, calculated: null }];
    const before = problems.length;
    const report = (message: string) => problems.push({ path: applied.pathOf(place, 'calculated'), message });
    const resolved = mapFormulas(calculated as Members, {
      input: (input) => resolveUnit(resolveInput(input, { siteId, sourceId }, found, report), units, report),
      entity: (entity) => resolveForm(entity, { siteId, sourceId }, found, report),
    });
    return problems.length > before ? [] : [{ variableId: targetId, sourceId, calculated: resolved }];
  });
  return { declarations, problems };
}

interface Own {
  readonly siteId: number;
  readonly sourceId: number;
}
type Found = (kind: KindName, lookup: Lookup) => number | string;
type Report = (message: string) => unknown;

function resolveInput(input: Members, own: Own, found: Found, report: Report): Members {
  const { rest, named } = split(input);
  const what = `the input ${JSON.stringify(rest.alias ?? '')}`;
  if (!named.variable) {
    const { variableId } = rest;
    const given =
      variableId === undefined
        ? 'nothing'
        : `the variableId ${JSON.stringify(variableId)}, which only an unchanged declaration may have, because ids differ between accounts`;
    report(`${what} must name a variable by mappingConfig or variableName, got ${given}`);
    return input;
  }
  const sourceId = resolveSource(named, own, found);
  const id =
    typeof sourceId === 'string' ? sourceId : found('variables', { parentId: sourceId, reference: named.variable });
  if (typeof id === 'string') report(`${what} ${id}`);
  const { variableId: _given, ...members } = rest;
  return { ...members, variableId: id };
}

/** Replaces the name of a unit with the id of the unit. Ignores the case of the unit name and of the member name. */
function resolveUnit(input: Members, units: ReadonlyMap<string, number>, report: Report): Members {
  const [member, unitName] = Object.entries(input).find(([name]) => name.toLowerCase() === 'unitid') ?? [];
  if (member === undefined || !isEntryName(unitName)) return input;
  const id = units.get(unitName.trim().toLowerCase());
  if (id === undefined)
    report(`the input ${JSON.stringify(input.alias ?? '')}: unitId ${unknownName('Unit', unitName)}`);
  return { ...input, [member]: id };
}

/** @returns the ids of the account's units by unit name. If no input names a unit, the map is empty. */
async function findNamedUnits(
  queryable: Queryable,
  accountId: number,
  rows: readonly DeclarationRow[],
): Promise<ReadonlyMap<string, number>> {
  const isNamed = rows.some(({ calculated }) => namesUnit(calculated));
  return isNamed ? readIdsByName(queryable, accountId, 'Unit') : new Map();
}

function namesUnit(calculated: unknown): boolean {
  let isNamed = false;
  const input = (members: Members): Members => {
    isNamed ||= Object.entries(members).some(([name, value]) => name.toLowerCase() === 'unitid' && isEntryName(value));
    return members;
  };
  if (calculated !== null) mapFormulas(calculated as Members, { input, entity: (entity) => entity });
  return isNamed;
}

function resolveForm(entity: Members, own: Own, found: Found, report: Report): Members {
  const { rest, named } = split(entity);
  const isSource = isSourceForm(entity.entityType);
  if (!named.site && !(isSource && named.source)) return rest;
  const id = isSource ? resolveSource(named, own, found) : resolveSite(named, own, found);
  if (typeof id === 'string') report(`the form ${JSON.stringify(rest.alias ?? '')} ${id}`);
  return { ...rest, [isSource ? 'sourceId' : 'siteId']: id };
}

function resolveSite({ site }: Named, { siteId }: Own, found: Found): number | string {
  return site ? found('sites', { parentId: 0, reference: site }) : siteId;
}

function resolveSource(named: Named, own: Own, found: Found): number | string {
  if (!named.source) return named.site ? 'names a site but no source; name the source too' : own.sourceId;
  const siteId = resolveSite(named, own, found);
  return typeof siteId === 'string' ? siteId : found('sources', { parentId: siteId, reference: named.source });
}

const KEY_MEMBERS = new Map(
  Object.values(REFERENCE).flatMap(({ own, name, occurrence }) =>
    [own, name, occurrence].map((member) => [member.toLowerCase(), member] as const),
  ),
);

/** Separates the members that name a resource from the other members, ignoring the case of member names. */
function split(members: Members): { readonly rest: Members; readonly named: Named } {
  const keys: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) {
    const key = KEY_MEMBERS.get(name.toLowerCase());
    if (key === undefined) rest[name] = value;
    else keys[key] = value;
  }
  const named = {
    site: readReference(keys, REFERENCE.sites),
    source: readReference(keys, REFERENCE.sources),
    variable: readReference(keys, REFERENCE.variables),
  };
  return { rest, named };
}

/** Looks up the resources named in the formulas of the rows: first the sites, then the sources, then the variables. */
async function findNamed(queryable: Queryable, accountId: number, rows: readonly DeclarationRow[]): Promise<Found> {
  const uses = rows.flatMap(({ siteId, sourceId, calculated }) =>
    namesOf(calculated).map((named) => ({ named, siteId, sourceId })),
  );
  const results = new Map<string, number | string>();
  const found: Found = (kind, lookup) =>
    results.get(keyOf(kind, lookup)) ?? 'names a resource that the import has not looked up';
  const look = async (kind: KindName, lookups: readonly Lookup[]): Promise<void> => {
    const distinct = [...new Map(lookups.map((lookup) => [keyOf(kind, lookup), lookup])).entries()];
    const candidates = await findCandidates(
      queryable,
      accountId,
      kind,
      distinct.map(([, lookup]) => lookup),
    );
    for (const [index, [key, { reference }]] of distinct.entries())
      results.set(key, choose(kind, reference, candidates[index] ?? { ids: [], named: 0 }));
  };
  await look(
    'sites',
    uses.flatMap(({ named: { site } }) => (site ? [{ parentId: 0, reference: site }] : [])),
  );
  await look(
    'sources',
    uses.flatMap(({ named, ...own }) => {
      const parentId = resolveSite(named, own, found);
      return named.source && typeof parentId === 'number' ? [{ parentId, reference: named.source }] : [];
    }),
  );
  await look(
    'variables',
    uses.flatMap(({ named, ...own }) => {
      const parentId = resolveSource(named, own, found);
      return named.variable && typeof parentId === 'number' ? [{ parentId, reference: named.variable }] : [];
    }),
  );
  return found;
}

const keyOf = (kind: KindName, { parentId, reference: { key, occurrence } }: Lookup) =>
  `${kind} ${parentId} ${occurrence ?? ''} ${key}`;

function namesOf(calculated: unknown): readonly Named[] {
  const names: Named[] = [];
  const note = (members: Members): Members => {
    names.push(split(members).named);
    return members;
  };
  if (calculated !== null) mapFormulas(calculated as Members, { input: note, entity: note });
  return names;
}

const KIND_WORDS: Readonly<Record<KindName, string>> = { sites: 'site', sources: 'source', variables: 'variable' };
/** Words for the parent in which a resource of each kind is looked up. */
const PLACE_WORDS: Readonly<Record<KindName, string>> = {
  sites: '',
  sources: ' at this site',
  variables: ' at this source',
};

/** The resources that a reference may name. */
interface Candidates {
  /** Ids, ascending, of the resources that match the key of the reference; see `findCandidates`. */
  readonly ids: readonly number[];
  /** If the key is a name: the number of resources of this name that also have an identifier. Otherwise 0. */
  readonly named: number;
}

/** @returns the id of the resource that a reference names, or a text that describes the problem. */
function choose(kind: KindName, { key, occurrence }: KeyReference, { ids, named }: Candidates): number | string {
  const word = KIND_WORDS[kind];
  const members = REFERENCE[kind];
  const shown = `${key.startsWith('=') ? 'the identifier' : 'the name'} ${JSON.stringify(key.slice(1))}`;
  if (occurrence === undefined && ids.length > 1) {
    const advice = `set ${members.occurrence} to 1 for the lowest id, 2 for the next`;
    return `names a ${word} by ${shown}, which ${ids.length} ${word}s have; ${advice}`;
  }
  if (ids.length === 0 && named > 0) {
    const fact = `every ${word} with this name has an identifier (${named} found)`;
    return `names a ${word} by ${shown}, but ${fact}; set ${members.own} to the identifier of the ${word}`;
  }
  const nth = occurrence === undefined ? '' : `, ${members.occurrence} ${occurrence}`;
  const missing = `names a ${word} that neither the account nor the document has${PLACE_WORDS[kind]}`;
  return ids[(occurrence ?? 1) - 1] ?? `${missing}: ${shown}${nth}`;
}

const PARENT_COLUMN: Readonly<Record<KindName, string | undefined>> = {
  sites: undefined,
  sources: 'site_id',
  variables: 'source_id',
};

/**
 * Finds the resources that each lookup names. A lookup by name matches the resources that have this name and no
 * identifier. If there are none, the lookup matches a resource that has this name and an identifier, on two conditions:
 * there is only one such resource, and the lookup sets no occurrence.
 */
async function findCandidates(
  queryable: Queryable,
  accountId: number,
  kind: KindName,
  lookups: readonly Lookup[],
): Promise<readonly Candidates[]> {
  if (lookups.length === 0) return [];
  const { resource, keyField } = KINDS[kind];
  const own = `t.${resource.fields[keyField]?.column}`;
  const parent = PARENT_COLUMN[kind];
  const within =
    parent === undefined ? 't.account_id = $3' : `t.${parent} = wanted.parent_id and ${isOfAccount('t', '$3')}`;
  const { rows } = await queryable.query<{
    ordinal: number;
    ids: readonly number[] | null;
    named: readonly number[] | null;
  }>(
    `select wanted.ordinal, array_agg(t.id order by t.id) filter (where ${keyExpression(KINDS[kind], 't')} = wanted.key) as ids,
            array_agg(t.id order by t.id) filter (where ${keyExpression(KINDS[kind], 't')} like '=%') as named
     from unnest($1::int[], $2::text[]) with ordinality wanted (parent_id, key, ordinal)
     cross join lateral (
       select * from ${resource.table} t
       where wanted.key like '=%' and ${within} and ${own} = substr(wanted.key, 2)
       union all
       select * from ${resource.table} t
       where wanted.key like '~%' and ${within} and t.name = substr(wanted.key, 2)
     ) t
     group by wanted.ordinal`,
    [lookups.map(({ parentId }) => parentId), lookups.map(({ reference }) => reference.key), accountId],
  );
  const byOrdinal = new Map(rows.map((row) => [row.ordinal, row]));
  return lookups.map(({ reference }, index) => {
    const { ids, named } = byOrdinal.get(index + 1) ?? { ids: null, named: null };
    const withIdentifier = reference.key.startsWith('~') ? (named ?? []) : [];
    const isByName = reference.occurrence === undefined && withIdentifier.length === 1;
    return { ids: ids ?? (isByName ? withIdentifier : []), named: withIdentifier.length };
  });
}
