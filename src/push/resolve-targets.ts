/**
 * Resolves the variable of each push element (R-D2): all given identifiers must match the variable, and the caller must
 * have write access to it. When an element identifies only a source, its target is the only variable of the source or,
 * when the source has several variables, its default variable (`isDefault`). Elements with the same kinds of
 * identifiers share one query, so that each query can use an index.
 */
import { isReached, type Reach } from '../identity/caller/site-reach.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { TargetIdentifiers } from './body/push-element.ts';

export interface Target {
  readonly variableId: number;
  /** IANA zone that applies to dates without an offset. */
  readonly timeZoneId: string;
  /** Divider of the variable, by which pushed values are divided (R-C6); never 0. */
  readonly divider: number;
}

export interface Unresolved {
  readonly code: 'target_not_found' | 'target_ambiguous';
  readonly message: string;
}

type Identifier = keyof TargetIdentifiers;

/** Column and type of each identifier, in the order of the query parameters. */
const COLUMNS: Readonly<Record<Identifier, readonly [column: string, type: 'int' | 'text']>> = {
  variableId: ['variable.id', 'int'],
  sourceId: ['source.id', 'int'],
  sourceSerialNumber: ['source.serial_number', 'text'],
  sourceEan: ['source.ean_number', 'text'],
  sourceName: ['source.name', 'text'],
  meterNumber: ['source.meter_number', 'text'],
  mappingConfig: ['variable.mapping_config', 'text'],
  variableTypeId: ['variable.variable_type_id', 'int'],
};

const IDENTIFIERS = Object.keys(COLUMNS) as Identifier[];

/** The name of each identifier in error messages. */
export type IdentifierNames = Readonly<Record<Identifier, string>>;

/** The names in a push body. */
const PUSH_NAMES = Object.fromEntries(IDENTIFIERS.map((name) => [name, name])) as IdentifierNames;

/** Identifiers that distinguish the variables of one source. */
const OF_VARIABLES: readonly Identifier[] = ['variableId', 'mappingConfig', 'variableTypeId'];

interface Match extends Target {
  readonly ordinal: number;
  readonly count: number;
  /** Number of default variables that match; null when the element names its variable by an identifier. */
  readonly defaultCount: number | null;
}

export interface Pusher {
  readonly accountId: number;
  readonly reach: Reach;
}

/**
 * End of the message `no variable has …` for users with access only to some sites or sources. The message must not
 * reveal variables that the user may not access.
 */
const WITHIN_REACH =
  ' among the variables that the user may push to (which requires Write access to the site or the source)';

/**
 * @param names the names of the identifiers in error messages.
 * @returns the target of each element, in order, or the reason why it has none (R-D2).
 */
export async function resolveTargets(
  queryable: Queryable,
  pusher: Pusher,
  elements: readonly TargetIdentifiers[],
  names: IdentifierNames = PUSH_NAMES,
): Promise<readonly (Target | Unresolved)[]> {
  const matches = new Map<string, Match>();
  for (const [given, distinct] of groupByGiven(elements)) {
    if (given.length === 0) continue;
    const keys = [...distinct.keys()];
    for (const match of await findMatches(queryable, pusher, given, [...distinct.values()])) {
      const key = keys[match.ordinal - 1];
      if (key !== undefined) matches.set(key, match);
    }
  }
  const where = pusher.reach.siteIds === null ? '' : WITHIN_REACH;
  return elements.map((identifiers) => {
    const match = matches.get(keyOfIdentifiers(identifiers));
    return match?.count === 1 ? toTarget(match) : toUnresolved(identifiers, match, where, names);
  });
}

function groupByGiven(
  elements: readonly TargetIdentifiers[],
): ReadonlyMap<readonly Identifier[], Map<string, TargetIdentifiers>> {
  const kinds = new Map<string, readonly Identifier[]>();
  const groups = new Map<readonly Identifier[], Map<string, TargetIdentifiers>>();
  for (const identifiers of elements) {
    const names = IDENTIFIERS.filter((name) => isGiven(identifiers, name));
    const kind = kinds.get(names.join()) ?? names;
    kinds.set(names.join(), kind);
    const distinct = groups.get(kind) ?? new Map<string, TargetIdentifiers>();
    groups.set(kind, distinct.set(keyOfIdentifiers(identifiers), identifiers));
  }
  return groups;
}

const ONLY_ONE = `
  min(variable.id) as "variableId", min(variable.divider) as divider, count(*) as count, null as "defaultCount"`;

// If the matching variables belong to one source and exactly one is a default variable, the query returns only this
// variable.
const DEFAULT_OF_SOURCE = `
  coalesce(min(variable.id) filter (where is_default), min(variable.id)) as "variableId",
  coalesce(min(variable.divider) filter (where is_default), min(variable.divider)) as divider,
  case when min(source.id) = max(source.id) and count(*) filter (where is_default) = 1 then 1 else count(*) end as count,
  count(*) filter (where is_default) as "defaultCount"`;

/**
 * Returns true when the identifier is given. A blank mappingConfig counts as absent, because no variable can have it.
 */
function isGiven(identifiers: TargetIdentifiers, name: Identifier): boolean {
  const value = identifiers[name];
  return value !== undefined && (name !== 'mappingConfig' || String(value).trim() !== '');
}

/**
 * Returns the value of the identifier for the query. Trims the white space around a mappingConfig, because a
 * mappingConfig is stored without white space around it.
 */
function identifierValue(identifiers: TargetIdentifiers, name: Identifier): number | string | undefined {
  return name === 'mappingConfig' ? identifiers.mappingConfig?.trim() : identifiers[name];
}

async function findMatches(
  queryable: Queryable,
  { accountId, reach }: Pusher,
  given: readonly Identifier[],
  elements: readonly TargetIdentifiers[],
): Promise<readonly Match[]> {
  const values: unknown[] = [accountId, reach.siteIds, reach.sourceIds];
  const arrays = given.map((name) => {
    const [, type] = COLUMNS[name];
    return `$${values.push(elements.map((identifiers) => identifierValue(identifiers, name)))}::${type}[]`;
  });
  const conditions = given.map((name, index) => `${COLUMNS[name][0]} = wanted.c${index}`);
  const isOfSource = !given.some((name) => OF_VARIABLES.includes(name));
  const { rows } = await queryable.query<Match>(
    `select wanted.ordinal, min(coalesce(source.time_zone_id, site.time_zone_id)) as "timeZoneId",
            ${isOfSource ? DEFAULT_OF_SOURCE : ONLY_ONE}
     from unnest(${arrays.join(', ')}) with ordinality wanted (${given.map((_, index) => `c${index}`).join(', ')}, ordinal)
     join (variable join source on source.id = variable.source_id join site on site.id = source.site_id)
       on variable.account_id = $1 and ${conditions.join(' and ')}
          and source.account_id = $1 and ${isReached('site.id', 'source.id', '$2', '$3')}
     group by wanted.ordinal`,
    values,
  );
  return rows;
}

function toTarget({ variableId, timeZoneId, divider }: Match): Target {
  return { variableId, timeZoneId, divider };
}

/**
 * @param where is appended to the error message `no variable has …` and says which variables were searched; '' when all
 * variables of the account were searched.
 */
function toUnresolved(
  identifiers: TargetIdentifiers,
  match: Match | undefined,
  where: string,
  names: IdentifierNames,
): Unresolved {
  const what = describe(identifiers, names);
  if (!match) {
    const message =
      what === ''
        ? `the element must have at least one identifier of a variable or source, such as ${names.variableId} or ${names.sourceName}`
        : `no variable has ${what}${where}`;
    return { code: 'target_not_found', message };
  }
  return {
    code: 'target_ambiguous',
    message: `${match.count} variables have ${what}${describeDefaults(match, names)}`,
  };
}

function describeDefaults({ defaultCount }: Match, { mappingConfig, variableTypeId }: IdentifierNames): string {
  if (defaultCount === null) return '';
  const found = `${defaultCount === 0 ? 'none' : defaultCount} of them`;
  return `, and isDefault is true for ${found}; add ${mappingConfig} or ${variableTypeId}, or name one source and set isDefault to true for exactly one of its variables`;
}

function describe(identifiers: TargetIdentifiers, names: IdentifierNames): string {
  const given = IDENTIFIERS.filter((name) => isGiven(identifiers, name));
  return given.map((name) => `${names[name]} ${JSON.stringify(identifiers[name])}`).join(' and ');
}

/** @returns a key that is the same for equal identifiers; the order of the members does not matter. */
export function keyOfIdentifiers(identifiers: TargetIdentifiers): string {
  let key = '';
  for (const name of IDENTIFIERS) {
    const value = identifiers[name];
    key += value === undefined ? ',' : `${JSON.stringify(value)},`;
  }
  return key;
}
