/**
 * References of a formula to sites, sources and variables. A document has business keys instead of ids, and omits the
 * calculated variable's own site and source. So the formulas of a copied site refer to variables of the copy.
 */
import { type OwnNames, toDocumentId } from './catalogue-members.ts';
import { type Key, type KindName, keyMembers, REFERENCE } from './kinds.ts';

type Members = Readonly<Record<string, unknown>>;

/** Ids of the site and source of the calculated variable. */
export interface Home {
  readonly siteId: number;
  readonly sourceId: number;
}

/** Keys of the resources that formulas refer to, by id; a resource that the caller may not read is absent. */
export interface ReferenceKeys {
  readonly sites: ReadonlyMap<number, Key>;
  readonly sources: ReadonlyMap<number, Key & { readonly siteId: number }>;
  readonly variables: ReadonlyMap<number, Key & { readonly sourceId: number }>;
}

const FORMULAS = 'calculatedVariableFormulas';

/**
 * @param declarations as calculation/declaration/present-declarations.ts returns them: every entry of `entities` has
 * the members `siteId` and `sourceId`.
 * @returns the ids of the variables, sources and sites that the declarations refer to.
 */
export function collectReferences(declarations: readonly unknown[]): Readonly<Record<KindName, readonly number[]>> {
  const formulas = declarations.flatMap(formulasOf);
  const inputs = formulas.flatMap((formula) => objectsOf(formula.variables));
  const entities = formulas.flatMap((formula) => objectsOf(formula.entities));
  const ids = (members: readonly Members[], name: string) => [
    ...new Set(members.flatMap((member) => (typeof member[name] === 'number' ? [member[name]] : []))),
  ];
  return {
    variables: ids(inputs, 'variableId'),
    sources: ids(entities, 'sourceId'),
    sites: ids(entities, 'siteId'),
  };
}

/**
 * Replaces the ids in a declaration with keys, and the ids of the account's own units with names. An id that has no key
 * in `keys` stays.
 * @param declaration the declaration as clients read it (R-C12).
 */
export function toDocumentDeclaration(declaration: Members, home: Home, keys: ReferenceKeys, names: OwnNames): Members {
  return sortKeys(
    mapFormulas(declaration, {
      input: ({ siteId: _site, sourceId: _source, variableId, ...input }) => {
        const members = variableMembers(variableId as number, home, keys);
        const unit = input.unitId === undefined ? {} : { unitId: toDocumentId(input.unitId, names) };
        return { ...input, ...unit, ...(members ?? { variableId }) };
      },
      entity: ({ siteId, sourceId, entityId: _entity, ...entity }) => {
        const isSource = isSourceForm(entity.entityType);
        const [id, own] = isSource ? [sourceId, home.sourceId] : [siteId, home.siteId];
        if (id === null || id === undefined || id === own) return entity;
        const members = isSource ? sourceMembers(id as number, home, keys) : siteMembers(id as number, home, keys);
        return { ...entity, ...(members ?? (isSource ? { sourceId } : { siteId })) };
      },
    }),
  ) as Members;
}

/**
 * @param entityType the type's name, in any letter case, or the type's number (R-A3).
 * @returns true when forms (entries of `entities`) with this type describe sources.
 */
export function isSourceForm(entityType: unknown): boolean {
  return ['2', 'source'].includes(String(entityType).toLowerCase());
}

/**
 * Returns a copy of the declaration in which each input (an entry of `variables`) is replaced by the result of
 * `map.input`, and each form (an entry of `entities`) by the result of `map.entity`.
 */
export function mapFormulas(
  declaration: Members,
  map: { readonly input: (input: Members) => Members; readonly entity: (entity: Members) => Members },
): Members {
  if (!Array.isArray(declaration[FORMULAS])) return declaration;
  const formulas = formulasOf(declaration).map((formula) => ({
    ...formula,
    ...(Array.isArray(formula.variables) && { variables: objectsOf(formula.variables).map(map.input) }),
    ...(Array.isArray(formula.entities) && { entities: objectsOf(formula.entities).map(map.entity) }),
  }));
  return { ...declaration, [FORMULAS]: formulas };
}

function variableMembers(id: number, home: Home, keys: ReferenceKeys): Members | undefined {
  const variable = keys.variables.get(id);
  const source = variable && sourceMembers(variable.sourceId, home, keys);
  return source && { ...source, ...keyMembers(REFERENCE.variables, variable) };
}

function sourceMembers(id: number, home: Home, keys: ReferenceKeys): Members | undefined {
  if (id === home.sourceId) return {};
  const source = keys.sources.get(id);
  const site = source && siteMembers(source.siteId, home, keys);
  return site && { ...site, ...keyMembers(REFERENCE.sources, source) };
}

function siteMembers(id: number, home: Home, keys: ReferenceKeys): Members | undefined {
  if (id === home.siteId) return {};
  const site = keys.sites.get(id);
  return site && keyMembers(REFERENCE.sites, site);
}

function formulasOf(declaration: unknown): readonly Members[] {
  return isObject(declaration) ? objectsOf(declaration[FORMULAS]) : [];
}

function objectsOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sorts the members of every object by name, so that equal declarations are exported as equal texts. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sortKeys(value[name])]),
  );
}
