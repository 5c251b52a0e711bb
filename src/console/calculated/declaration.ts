/** The declaration of a calculated variable, as the API returns and accepts it (R-H1), and pure functions for it. */

export interface Input {
  readonly alias: string;
  readonly variableId: number;
  readonly canBeUsedAsATrigger?: boolean;
  readonly periodType?: string;
  readonly period?: number;
  readonly periodTimeBase?: string;
  readonly alignTo?: string | null;
  readonly fromAbsolutePeriod?: string | null;
  readonly toAbsolutePeriod?: string | null;
  readonly granularity?: string;
  readonly aggregation?: string | null;
  readonly unitId?: number | null;
  readonly version?: string | readonly string[] | null;
  readonly asOf?: string | null;
  readonly relativeVersion?: string | null;
  readonly horizon?: string | null;
  readonly tags?: string | readonly string[] | null;
}

export interface Form {
  readonly alias: string;
  readonly entityType: string;
  /** For `entityType` Site: id of the site whose form value is read. Default: the site of the variable. */
  readonly siteId?: number | null;
  /** For `entityType` Source: id of the source whose form value is read. Default: the source of the variable. */
  readonly sourceId?: number | null;
  readonly path: string;
  readonly canBeUsedAsATrigger?: boolean | null;
}

export type Scalar = string | number | boolean | null;

export interface Constant {
  readonly alias: string;
  readonly value: Scalar;
}

export interface Formula {
  readonly formula?: string | null;
  readonly validFrom?: string | null;
  readonly validUntil?: string | null;
  readonly variables: readonly Input[];
  readonly entities: readonly Form[];
  readonly constants: readonly Constant[];
  readonly schedule?: string | { readonly cron: string; readonly timeZoneId?: string | null } | null;
}

export interface Declaration {
  readonly friendlyName?: string | null;
  readonly calculatedVariableFormulas: readonly Formula[];
}

export const EMPTY_FORMULA: Formula = { formula: '', variables: [], entities: [], constants: [] };

/** A script that returns no points. It replaces the author's script when only the windows of the inputs are wanted. */
export const NO_RESULT = 'list(TimeSeries = list(Dates = integer(), Values = numeric()))';

/** @returns the initial script of a new calculated variable: it returns the points of the only input, `alias`. */
export function starterScript(alias: string): string {
  return `ts <- inputVariables$${alias}$TimeSeries\n\nlist(TimeSeries = data.frame(Dates = ts$Dates, Values = ts$Values))\n`;
}

/**
 * @returns the declaration in a complete form. An absent list of inputs, forms or constants becomes an empty list. If
 *   there is no formula, an empty formula is added.
 * @param given the declaration that the API returned; null or undefined when there is none.
 */
export function toDeclaration(given: unknown): Declaration {
  const { calculatedVariableFormulas = [], ...rest } = (given ?? {}) as Partial<Declaration>;
  const formulas = calculatedVariableFormulas.map(({ variables, entities, constants, ...formula }) => ({
    ...formula,
    variables: (variables ?? []).map(withoutPlace),
    entities: entities ?? [],
    constants: constants ?? [],
  }));
  return { ...rest, calculatedVariableFormulas: formulas.length === 0 ? [EMPTY_FORMULA] : formulas };
}

/** Removes the site and the source of an input. The API returns them, but they are not part of a declaration. */
function withoutPlace({
  siteId: _siteId,
  sourceId: _sourceId,
  ...input
}: Input & { siteId?: number; sourceId?: number }) {
  return input;
}

/** @returns a copy of the declaration with one formula changed. */
export function changeFormula(declaration: Declaration, index: number, change: Partial<Formula>): Declaration {
  const formulas = declaration.calculatedVariableFormulas.map((formula, at) =>
    at === index ? { ...formula, ...change } : formula,
  );
  return { ...declaration, calculatedVariableFormulas: formulas };
}

/** @returns the cron expression and the time zone of the schedule. Either is an empty string when it is missing. */
export function scheduleOf({ schedule }: Formula): { readonly cron: string; readonly timeZoneId: string } {
  if (!schedule) return { cron: '', timeZoneId: '' };
  return typeof schedule === 'string'
    ? { cron: schedule, timeZoneId: '' }
    : { cron: schedule.cron, timeZoneId: schedule.timeZoneId ?? '' };
}

/** @returns an alias made from a name. @param taken aliases that must not be returned. */
export function freeAlias(name: string, taken: readonly string[]): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^[_0-9]+|_+$/g, '')
    .toLowerCase()
    .slice(0, 40);
  const base = plain === '' ? 'input' : plain;
  for (let number = 1; ; number++) {
    const alias = number === 1 ? base : `${base}_${number}`;
    if (!taken.includes(alias)) return alias;
  }
}

/**
 * Parses the text that a person typed as a constant. A number becomes a number. TRUE or FALSE, in any letter case,
 * becomes a boolean. Any other text stays a text.
 */
export function parseScalar(text: string): Scalar {
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** @returns the scripts of all formulas as one text, and the rest of the declaration as JSON, for comparison. */
export function toTexts(declaration: Declaration): { readonly script: string; readonly settings: string } {
  const formulas = declaration.calculatedVariableFormulas;
  const script = formulas
    .map(({ formula, validFrom }, index) =>
      formulas.length === 1 ? (formula ?? '') : `# ${index + 1} ${validFrom ?? ''}\n${formula ?? ''}`,
    )
    .join('\n');
  const rest = formulas.map(({ formula: _formula, ...settings }) => sortKeys(settings));
  return { script, settings: JSON.stringify({ friendlyName: declaration.friendlyName, formulas: rest }, null, 2) };
}

/** Sorts members and drops nulls: an absent member and a null member mean the same (R-H1). */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(
    members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sortKeys(member)]),
  );
}

/** @returns true when the declarations have equal members, in any order. A null member equals an absent one. */
export function isSame(a: Declaration, b: Declaration): boolean {
  return JSON.stringify(sortKeys(a)) === JSON.stringify(sortKeys(b));
}
