/**
 * The declaration of a calculated variable as clients read it (R-C12). The stored declaration is the JSON that a client
 * wrote; its local dates and its epoch milliseconds were replaced with instants. In the answer, the names of documented members
 * are spelled as the API documents them, absent lists are `[]`, and the note is left out. Inputs have their current
 * sites and sources. A value of a source's form has the current site of that source.
 */
import type { Queryable } from '../../platform/database/database.ts';
import { enumerationSchema } from '../../platform/http/lenient.ts';
import { MAX_INT4 } from '../../platform/limits.ts';
import type { ResourceObject } from '../../structure/resource.ts';
import { ENTITY_TYPE } from './declaration.ts';

type Members = Readonly<Record<string, unknown>>;

/** @returns a map from each name in lower case to the name as the API documents it. */
const namesOf = (...names: readonly string[]) => new Map(names.map((name) => [name.toLowerCase(), name]));
const FORMULAS = 'calculatedVariableFormulas';
const DECLARATION_NAMES = namesOf('friendlyName', FORMULAS, 'note');
const FORMULA_NAMES = namesOf('formula', 'validFrom', 'validUntil', 'variables', 'entities', 'constants', 'schedule');
const INPUT_NAMES = namesOf(
  ...['alias', 'siteId', 'sourceId', 'variableId', 'granularity', 'aggregation', 'periodType', 'period'],
  ...[
    'periodTimeBase',
    'alignTo',
    'fromAbsolutePeriod',
    'toAbsolutePeriod',
    'unitId',
    'canBeUsedAsATrigger',
    'version',
    'asOf',
  ],
  ...['relativeVersion', 'horizon', 'tags'],
);
const ENTITY_NAMES = namesOf('alias', 'entityType', 'entityId', 'siteId', 'sourceId', 'path', 'canBeUsedAsATrigger');
const CONSTANT_NAMES = namesOf('alias', 'value');
const SCHEDULE_NAMES = namesOf('cron', 'timeZoneId');
const entityTypeSchema = enumerationSchema(ENTITY_TYPE);

interface Owners {
  /** Source id of each variable, by variable id. */
  readonly sources: ReadonlyMap<number, number>;
  /** Site id of each source, by source id. */
  readonly sites: ReadonlyMap<number, number>;
}

/**
 * Completes the member `calculated` of each calculated variable, and removes this member from every other variable.
 * @param variables variables of the account `accountId`.
 */
export async function presentDeclarations(
  queryable: Queryable,
  accountId: number,
  variables: readonly ResourceObject[],
): Promise<readonly ResourceObject[]> {
  const named = variables.map(({ calculated, ...members }) =>
    isObject(calculated) ? { ...members, calculated: nameMembers(calculated) } : members,
  ) as (ResourceObject & { readonly calculated?: NamedDeclaration })[];
  const formulas = named.flatMap(({ calculated }) => calculated?.[FORMULAS] ?? []);
  if (formulas.length === 0) return named;
  const owners = await findOwners(queryable, accountId, formulas);
  return named.map((variable) => {
    if (!variable.calculated) return variable;
    const complete = variable.calculated[FORMULAS].map((formula) => withOwners(formula, owners));
    return { ...variable, calculated: { ...variable.calculated, [FORMULAS]: complete } };
  });
}

interface NamedFormula extends Members {
  readonly variables: readonly Members[];
  readonly entities: readonly Members[];
  readonly constants: readonly Members[];
}
type NamedDeclaration = Members & { readonly [FORMULAS]: readonly NamedFormula[] };

/**
 * Renames known members to the spelling in the API documentation, adds absent lists as `[]`, and removes the member
 * `note`.
 */
export function nameMembers(declaration: Members): NamedDeclaration {
  // Leaves out the note, because a note describes only one save (R-H12). If answers contained the note, a client would
  // send the old note again with its next save.
  const { note: _note, ...named } = rename(declaration, DECLARATION_NAMES);
  const formulas = objectsOf(named[FORMULAS]).map((formula): NamedFormula => {
    const members = rename(formula, FORMULA_NAMES);
    return {
      ...members,
      ...(isObject(members.schedule) && { schedule: rename(members.schedule, SCHEDULE_NAMES) }),
      variables: objectsOf(members.variables).map((input) => rename(input, INPUT_NAMES)),
      entities: objectsOf(members.entities).map((entity) => rename(entity, ENTITY_NAMES)),
      constants: objectsOf(members.constants).map((constant) => rename(constant, CONSTANT_NAMES)),
    };
  });
  return { ...named, [FORMULAS]: formulas };
}

/** @returns true for a value of a site's form, which `siteId` alone identifies: a `sourceId` is ignored. */
export function isOfSite({ entityType }: Members): boolean {
  return entityTypeSchema.safeParse(entityType).data === 'Site';
}

function withOwners(formula: NamedFormula, { sources, sites }: Owners): NamedFormula {
  const siteOf = (sourceId: number | null) => (sourceId === null ? undefined : sites.get(sourceId)) ?? null;
  return {
    ...formula,
    variables: formula.variables.map((input) => {
      const variableId = idOf(input.variableId);
      const sourceId = (variableId === null ? undefined : sources.get(variableId)) ?? null;
      return { ...input, siteId: siteOf(sourceId), sourceId, variableId };
    }),
    entities: formula.entities.map((entity) => {
      const sourceId = idOf(entity.sourceId);
      const siteId = idOf(entity.siteId);
      return { ...entity, siteId: isOfSite(entity) ? siteId : (siteOf(sourceId) ?? siteId), sourceId };
    }),
  };
}

async function findOwners(queryable: Queryable, accountId: number, formulas: readonly NamedFormula[]): Promise<Owners> {
  const inputIds = formulas.flatMap(({ variables }) => variables.flatMap(({ variableId }) => idOf(variableId) ?? []));
  const sourceIds = formulas.flatMap(({ entities }) => entities.flatMap(({ sourceId }) => idOf(sourceId) ?? []));
  const { rows } = await queryable.query<{ id: number | null; sourceId: number; siteId: number }>(
    `select variable.id, source.id as "sourceId", source.site_id as "siteId"
     from variable join source on source.id = variable.source_id
     where variable.id = any($2::int[]) and variable.account_id = $1
     union all select null, id, site_id from source where id = any($3::int[]) and account_id = $1`,
    [accountId, inputIds, sourceIds],
  );
  return {
    sources: new Map(rows.flatMap(({ id, sourceId }) => (id === null ? [] : [[id, sourceId] as const]))),
    sites: new Map(rows.map(({ sourceId, siteId }) => [sourceId, siteId])),
  };
}

function rename(object: Members, names: ReadonlyMap<string, string>): Members {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [names.get(name.toLowerCase()) ?? name, value]),
  );
}

/** Converts an id, which may be stored as a string of digits (R-A3), to a number. @returns null for any other value. */
function idOf(value: unknown): number | null {
  const id = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && id >= 1 && id <= MAX_INT4 ? id : null;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectsOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
