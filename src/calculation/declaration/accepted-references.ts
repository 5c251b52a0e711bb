/**
 * Collects the references of the last saved declaration of a variable. A new declaration may keep each of these
 * references, even when the target of the reference was deleted meanwhile or is a variable whose unit has changed. So a
 * client can rename the calculated variable, or correct one of two inputs, while another reference is broken. Only new
 * references are checked.
 */
import type { Queryable } from '../../platform/database/database.ts';
import { DECLARATION_SCHEMA, type FormulaDeclaration } from './declaration.ts';
import { isOfSite, nameMembers } from './present-declarations.ts';

/** References that are not checked again, because the last saved declaration of the variable already contains them. */
export interface AcceptedReferences {
  hasVariable(variableId: number): boolean;
  /** @returns true when the last saved declaration reads this variable in this unit. */
  hasUnit(variableId: number, unitId: number): boolean;
  hasSite(siteId: number): boolean;
  hasSource(sourceId: number): boolean;
}

/** Accepts no reference, so every reference counts as new. */
export const NONE_ACCEPTED: AcceptedReferences = {
  hasVariable: () => false,
  hasUnit: () => false,
  hasSite: () => false,
  hasSource: () => false,
};

/** Collects the references of the formulas of a saved declaration. */
export function acceptedReferences(formulas: readonly FormulaDeclaration[]): AcceptedReferences {
  const inputs = formulas.flatMap(({ variables }) => variables);
  const entities = formulas.flatMap((formula) => formula.entities);
  const variables = new Set(inputs.map(({ variableId }) => variableId));
  const units = new Set(inputs.map(({ variableId, unitId }) => `${variableId}/${unitId}`));
  const sites = new Set(entities.map(({ siteId }) => siteId));
  const sources = new Set(entities.map(({ sourceId }) => sourceId));
  return {
    hasVariable: (variableId) => variables.has(variableId),
    hasUnit: (variableId, unitId) => units.has(`${variableId}/${unitId}`),
    hasSite: (siteId) => sites.has(siteId),
    hasSource: (sourceId) => sources.has(sourceId),
  };
}

/**
 * @returns the declaration of the last save in the history, as it was stored. Null when that save removed the
 * declaration, or when the history has no save.
 */
export async function findLastSaved(queryable: Queryable, variableId: number): Promise<unknown> {
  const { rows } = await queryable.query<{ calculated: unknown }>(
    'select calculated from declaration_save where variable_id = $1 order by id desc limit 1',
    [variableId],
  );
  return rows[0]?.calculated ?? null;
}

/**
 * @returns the references of a saved declaration; no references when the declaration is absent or no longer fits the
 * schema.
 */
export function referencesOf(saved: unknown): AcceptedReferences {
  const parsed = DECLARATION_SCHEMA.safeParse(saved ?? {});
  return parsed.success ? acceptedReferences(parsed.data.calculatedVariableFormulas) : NONE_ACCEPTED;
}

/**
 * @returns true when `given` equals the saved declaration and has no note. The caller then skips the check of the
 *   declaration, so that an unchanged declaration stays valid even when the rules have changed.
 */
export function isSameDeclaration(saved: unknown, given: unknown): boolean {
  if (hasNote(given)) return false;
  const [first, second] = [comparable(saved), comparable(given)];
  return first !== undefined && first === second;
}

function hasNote(declaration: unknown): boolean {
  return Object.entries(declaration ?? {}).some(([name, value]) => name.toLowerCase() === 'note' && value);
}

/**
 * @returns the declaration as JSON with sorted members. Nulls, the note and the members that an answer adds
 * (present-declarations.ts) are left out. Returns undefined when `declaration` is not an object.
 */
function comparable(declaration: unknown): string | undefined {
  if (typeof declaration !== 'object' || declaration === null || Array.isArray(declaration)) return undefined;
  const { calculatedVariableFormulas, ...named } = nameMembers(declaration as Readonly<Record<string, unknown>>);
  const formulas = calculatedVariableFormulas.map((formula) => ({
    ...formula,
    variables: formula.variables.map(({ siteId: _siteId, sourceId: _sourceId, ...input }) => input),
    entities: formula.entities.map(({ siteId, ...entity }) =>
      entity.sourceId && !isOfSite(entity) ? entity : { ...entity, siteId },
    ),
  }));
  return JSON.stringify({ ...named, formulas }, (_name, value: unknown) => sortMembers(value));
}

function sortMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}
