/**
 * Checks that the variables, sites and sources of a declaration exist, that the caller may read them, and that inputs
 * can be converted into their declared units (R-H1).
 */
import { isReached, type Reach } from '../../identity/caller/site-reach.ts';
import type { Queryable } from '../../platform/database/database.ts';
import type { ErrorDetail } from '../../platform/errors.ts';
import { findInputScales } from '../inputs/input-scales.ts';
import { type AcceptedReferences, NONE_ACCEPTED } from './accepted-references.ts';
import type { FormulaDeclaration } from './declaration.ts';

/** The caller's account, and the sites and sources that the caller may read. */
export interface Reader {
  readonly accountId: number;
  readonly reach: Reach;
}

/** Ids of referenced resources that exist and that the caller may read; `variables` also gives the unit of each. */
export interface Visible {
  readonly accountId: number;
  readonly variables: ReadonlyMap<number, number | null>;
  readonly sites: ReadonlySet<number>;
  readonly sources: ReadonlySet<number>;
}

const VISIBLE = `
  select 'variable' as kind, variable.id, variable.unit_id as "unitId"
  from variable join source on source.id = variable.source_id
  where variable.id = any($1::int[]) and variable.account_id = $4
    and ${isReached('source.site_id', 'source.id', '$5', '$6')}
  union all
  select 'site', id, null from site
  where id = any($2::int[]) and account_id = $4 and ($7::int[] is null or id = any($7::int[]))
  union all
  select 'source', id, null from source
  where id = any($3::int[]) and account_id = $4 and ${isReached('site_id', 'id', '$5', '$6')}`;

/**
 * Finds references to missing or invisible variables, sites and sources. Also finds units into which an input cannot be
 * converted (R-H1).
 * @param root JSON path of the declaration, such as `$.calculated`.
 * @param accepted references that need no check. Default: none.
 * @returns one problem for each such reference, and one for each input with such a unit.
 */
export async function findReferenceProblems(
  queryable: Queryable,
  reader: Reader,
  formulas: readonly FormulaDeclaration[],
  root: string,
  accepted: AcceptedReferences = NONE_ACCEPTED,
): Promise<readonly ErrorDetail[]> {
  return findProblemsOf(queryable, await findVisible(queryable, reader, formulas), formulas, root, accepted);
}

/**
 * Does the same as `findReferenceProblems`, but with the result of an earlier `findVisible`.
 * @param visible may also cover other formulas.
 */
export async function findProblemsOf(
  queryable: Queryable,
  visible: Visible,
  formulas: readonly FormulaDeclaration[],
  root: string,
  accepted: AcceptedReferences,
): Promise<readonly ErrorDetail[]> {
  const problems: ErrorDetail[] = [];
  for (const [index, formula] of formulas.entries()) {
    const path = `${root}.calculatedVariableFormulas[${index}]`;
    problems.push(...findMissingVariables(formula, visible, accepted, path));
    problems.push(...findMissingOwners(formula, visible, accepted, path));
    problems.push(...(await findUnitProblems(queryable, formula, visible, accepted, path)));
  }
  return problems;
}

/**
 * Finds the variables, sites and sources to which the formulas refer. Leaves out a resource that does not exist or that
 * the caller may not read.
 */
export async function findVisible(
  queryable: Queryable,
  { accountId, reach: { siteIds, sourceIds, shownSiteIds } }: Reader,
  formulas: readonly FormulaDeclaration[],
): Promise<Visible> {
  const entities = formulas.flatMap((formula) => formula.entities);
  const { rows } = await queryable.query<{ kind: string; id: number; unitId: number | null }>(VISIBLE, [
    formulas.flatMap(({ variables }) => variables.map(({ variableId }) => variableId)),
    entities.flatMap(({ siteId }) => siteId ?? []),
    entities.flatMap(({ sourceId }) => sourceId ?? []),
    accountId,
    ...[siteIds, sourceIds, shownSiteIds],
  ]);
  const of = (kind: string) => rows.filter((row) => row.kind === kind);
  return {
    accountId,
    variables: new Map(of('variable').map(({ id, unitId }) => [id, unitId])),
    sites: new Set(of('site').map(({ id }) => id)),
    sources: new Set(of('source').map(({ id }) => id)),
  };
}

function findMissingVariables(
  { variables }: FormulaDeclaration,
  { variables: known }: Visible,
  accepted: AcceptedReferences,
  path: string,
): ErrorDetail[] {
  return variables.flatMap(({ variableId }, index) => {
    if (known.has(variableId) || accepted.hasVariable(variableId)) return [];
    return [{ path: `${path}.variables[${index}].variableId`, message: `variable ${variableId} does not exist` }];
  });
}

function findMissingOwners(
  { entities }: FormulaDeclaration,
  { sites, sources }: Visible,
  accepted: AcceptedReferences,
  path: string,
): ErrorDetail[] {
  return entities.flatMap(({ siteId, sourceId }, index) => {
    const owner = `${path}.entities[${index}]`;
    const isSiteMissing = siteId && !sites.has(siteId) && !accepted.hasSite(siteId);
    const isSourceMissing = sourceId && !sources.has(sourceId) && !accepted.hasSource(sourceId);
    return [
      ...(isSiteMissing ? [{ path: `${owner}.siteId`, message: `site ${siteId} does not exist` }] : []),
      ...(isSourceMissing ? [{ path: `${owner}.sourceId`, message: `source ${sourceId} does not exist` }] : []),
    ];
  });
}

async function findUnitProblems(
  queryable: Queryable,
  { variables }: FormulaDeclaration,
  visible: Visible,
  accepted: AcceptedReferences,
  path: string,
): Promise<ErrorDetail[]> {
  const { variables: known } = visible;
  const pairs = variables.map(({ variableId, unitId }) => {
    const isChecked = known.has(variableId) && unitId && !accepted.hasUnit(variableId, unitId);
    return { unitId: known.get(variableId) ?? null, wantedId: isChecked ? unitId : undefined };
  });
  const scales = await findInputScales(queryable, visible.accountId, pairs);
  return scales.flatMap((scale, index) =>
    scale.kind === 'ok' ? [] : [{ path: `${path}.variables[${index}].unitId`, message: scale.message }],
  );
}
