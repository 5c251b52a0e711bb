/**
 * Resolves a read request (R-G1, R-G2) into a selection of points that the caller may see. REST and gRPC share this
 * code: their parameters have different names, but the same meaning.
 */
import type { Caller } from '../identity/caller/caller.ts';
import { isReached, readReach } from '../identity/caller/site-reach.ts';
import type { Queryable } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import { type InputLocation, locationError } from '../platform/http/input-location.ts';
import { MAX_DETAILS } from '../platform/http/lenient.ts';
import type { LinearScale, Micros, PointSelection } from '../points/point.ts';
import {
  AGGREGATE,
  type Aggregate,
  defaultAggregate,
  nameOf,
  QUANTITY_TYPE,
} from '../structure/catalogue/enumerations.ts';
import { findScales } from './find-scales.ts';
import type { READ_QUERY } from './read-parameters.ts';
import { resolveVersion, type VersionRequest } from './resolve-version.ts';

/** Takes the REST name of a parameter and returns the location of the parameter in the request. */
export type LocationOf = (name: ReadName) => InputLocation;

export type ReadName = keyof ReturnType<typeof READ_QUERY.parse>;

export interface ReadRequest extends VersionRequest {
  readonly variableIds: readonly number[];
  /** Ids of sources; all variables of these sources are selected. */
  readonly sourceIds?: readonly number[];
  readonly fromMicros?: Micros | undefined;
  readonly toMicros?: Micros | undefined;
  readonly isToIncluded: boolean;
  /** Id of the unit that values are converted into. */
  readonly unitId?: number | undefined;
  readonly order: 'ASC' | 'DESC';
  /** Maximum points per variable. */
  readonly limit?: number | undefined;
  readonly offset: number;
  readonly locationOf: LocationOf;
}

export interface ResolvedSelection {
  readonly selection: PointSelection;
  readonly variables: ReadonlyMap<number, ReadVariable>;
}

/** Properties of a variable that readers of its points need. */
export interface ReadVariable {
  /** Id of the unit of the values after conversion; null when the variable has no unit. */
  readonly unitId: number | null;
  /** The default aggregate of the variable, for a request without an aggregate (R-C8). */
  readonly aggregate: Aggregate;
}

/**
 * @returns the selection, and its variables in the order of the selection (R-G1, R-G2).
 * @throws {DomainError} not_found for a variable or source that does not exist or that the caller may not see.
 * @throws {DomainError} invalid_input when the request names no variable and no source, the period ends before it
 * begins, or values cannot be converted into the requested unit.
 */
export async function resolveSelection(
  queryable: Queryable,
  caller: Caller,
  request: ReadRequest,
): Promise<ResolvedSelection> {
  assertMeaningful(request);
  const stored = await findVisible(queryable, caller, request);
  const { variables, scales } = await convertUnits(queryable, caller, stored, request);
  const { fromMicros, toMicros, limit } = request;
  const selection: PointSelection = {
    variableIds: [...variables.keys()],
    isToIncluded: request.isToIncluded,
    version: await resolveVersion(queryable, request),
    order: request.order,
    offset: request.offset,
    ...(scales && { scales }),
    ...(fromMicros !== undefined && { fromMicros }),
    ...(toMicros !== undefined && { toMicros }),
    ...(limit !== undefined && { limit }),
  };
  return { selection, variables };
}

function assertMeaningful({ variableIds, sourceIds = [], fromMicros, toMicros, locationOf }: ReadRequest): void {
  if (variableIds.length === 0 && sourceIds.length === 0) {
    throw locationError(locationOf('variableIds'), `must be present when ${locationOf('sourceIds').subject} is absent`);
  }
  if (fromMicros !== undefined && toMicros !== undefined && fromMicros > toMicros) {
    throw locationError(locationOf('from'), `must not be later than ${locationOf('to').subject}`);
  }
}

/** Adds the conversions into the requested unit, if one is requested. */
async function convertUnits(
  queryable: Queryable,
  { accountId }: Caller,
  stored: ReadonlyMap<number, ReadVariable>,
  { unitId, locationOf }: ReadRequest,
): Promise<{
  readonly variables: ReadonlyMap<number, ReadVariable>;
  readonly scales?: ReadonlyMap<number, LinearScale>;
}> {
  if (unitId === undefined) return { variables: stored };
  const scales = await findScales(queryable, accountId, stored, unitId, locationOf('unitId'));
  return { variables: new Map([...stored].map(([id, variable]) => [id, { ...variable, unitId }])), scales };
}

// Every read runs this query. As a prepared statement, the query takes 0.43 ms; otherwise it would take 0.52 ms.
const FIND_VISIBLE = `
  select variable.id, variable.source_id as "sourceId", variable.unit_id as "unitId", variable.aggregate,
         variable.quantity_type as "quantityType"
  from variable join source on source.id = variable.source_id
  where (variable.id = any($1::int[]) or variable.source_id = any($2::int[]))
    and variable.account_id = $3 and ${isReached('source.site_id', 'source.id', '$4', '$5')}
  order by variable.id`;

/**
 * Finds the requested variables: first the variables in `variableIds`, in the order of the request, then the other
 * variables of the requested sources, in order of id.
 */
async function findVisible(
  queryable: Queryable,
  caller: Caller,
  { variableIds, sourceIds = [], locationOf }: ReadRequest,
): Promise<ReadonlyMap<number, ReadVariable>> {
  const values = [variableIds, sourceIds, caller.accountId, ...reachValues(caller)];
  const { rows } = await queryable.query<VariableRow>({ name: 'visible-variables', text: FIND_VISIBLE, values });
  const found = new Map(rows.map((row) => [row.id, toReadVariable(row)]));
  assertAllFound(variableIds, found, locationOf('variableIds'));
  const withVariables = new Set(rows.map((row) => row.sourceId));
  const empty = [...new Set(sourceIds)].filter((id) => !withVariables.has(id));
  if (empty.length > 0) await assertSourcesVisible(queryable, caller, empty);
  const named = variableIds.flatMap((id) => {
    const variable = found.get(id);
    return variable ? [[id, variable] as const] : [];
  });
  return new Map([...named, ...found]);
}

function reachValues(caller: Caller): readonly unknown[] {
  const { siteIds, sourceIds } = readReach(caller);
  return [siteIds, sourceIds];
}

function describeMissing(kind: string, ids: readonly number[]): string {
  return ids.length === 1 ? `${kind} ${ids[0]} does not exist` : `${kind}s ${ids.join(', ')} do not exist`;
}

function assertAllFound(ids: readonly number[], found: ReadonlyMap<number, unknown>, { path }: InputLocation): void {
  const missing = ids.filter((id) => !found.has(id)).slice(0, MAX_DETAILS);
  if (missing.length === 0) return;
  const details = missing.map((id) => ({ path, message: `variable ${id} does not exist` }));
  throw new DomainError('not_found', describeMissing('variable', missing), details);
}

interface VariableRow {
  readonly id: number;
  readonly sourceId: number;
  readonly unitId: number | null;
  readonly aggregate: number | null;
  readonly quantityType: number | null;
}

function toReadVariable({ unitId, aggregate, quantityType }: VariableRow): ReadVariable {
  const own = nameOf(AGGREGATE, aggregate);
  return { unitId, aggregate: own ?? defaultAggregate(nameOf(QUANTITY_TYPE, quantityType)) };
}

/**
 * Throws not_found for a source that does not exist or that the caller may not see; a source without variables is
 * valid.
 */
async function assertSourcesVisible(queryable: Queryable, caller: Caller, ids: readonly number[]): Promise<void> {
  const { rows } = await queryable.query<{ id: number }>(
    `select id from source where id = any($1::int[]) and account_id = $2 and ${isReached('site_id', 'id', '$3', '$4')}`,
    [ids, caller.accountId, ...reachValues(caller)],
  );
  const missing = ids.filter((id) => !rows.some((row) => row.id === id));
  if (missing.length > 0) throw new DomainError('not_found', describeMissing('source', missing));
}
