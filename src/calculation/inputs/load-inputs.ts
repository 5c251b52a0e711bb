/** Reads the inputs of a formula as columns (R-H2, R-H6), all in the snapshot of one transaction. */
import type { Queryable, Transaction } from '../../platform/database/database.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { DomainError } from '../../platform/errors.ts';
import { aggregatePoints } from '../../points/buckets/aggregate-points.ts';
import type { AggregateChunk, Buckets } from '../../points/buckets/bucket.ts';
import type { Dictionary } from '../../points/dictionary.ts';
import type { LinearScale, PointChunk, PointSelection, VersionChoice } from '../../points/point.ts';
import { findHistoryCuts, type HistoryCut } from '../../points/read/history-cuts.ts';
import { readPoints } from '../../points/read/read-points.ts';
import { findRolledUp, type RawBoundary } from '../../points/rollups/find-rolled-up.ts';
import { CURRENT, parseDuration, parseRelative } from '../../selection/duration-rules.ts';
import { resolveVersion } from '../../selection/resolve-version.ts';
import { BUCKETS, FUNCTIONS } from '../../structure/catalogue/bucket-names.ts';
import { startOfDay } from '../../structure/catalogue/time-zones.ts';
import { type InputDeclaration, instantMicros } from '../declaration/declaration.ts';
import type { DateRange } from '../declaration/formula-period-rules.ts';
import type { DateWindow, SandboxInput } from '../sandbox/sandbox-types.ts';
import { InputColumns } from './input-columns.ts';
import { findInputScales } from './input-scales.ts';
import type { KnownVariable } from './variable-infos.ts';
import { type FindNthBefore, findWindow, type Window } from './windows.ts';

const MICROS_PER_SECOND = 1_000_000;

/** One input in the record of a run (R-H8). */
export interface InputRecord {
  /** Index of the formula that read the input. */
  readonly formula: number;
  readonly alias: string;
  readonly variableId: number;
  readonly from: string | null;
  readonly to: string | null;
  /** Number of points that were read; for an input with a granularity, the number of buckets. */
  readonly points: number;
  readonly granularity?: string;
  readonly aggregation?: string;
  readonly alignTo?: string;
  readonly version?: string | readonly string[];
  /** The instant whose state was read: declared as `asOf`, or found from a relative version at the time of the run. */
  readonly asOf?: string;
  readonly horizon?: string;
  readonly tags?: readonly string[];
  /**
   * Greatest VersionTimestamp of the variable at the time of the run; null when no point of the variable had ever been
   * written. If the input has no `asOf`, the run read the state as of this VersionTimestamp.
   */
  readonly lastVersionTimestamp: string | null;
  /**
   * The instant from which the states of the variable are complete. Present only if the run may have read incomplete
   * points (R-F9).
   */
  readonly historyFrom?: string;
  /**
   * The date from which all points of the variable are stored; retention has replaced earlier points by rollups.
   * Present when the window begins before this date.
   */
  readonly rawFrom?: string;
}

export interface LoadedInputs {
  readonly inputs: readonly SandboxInput[];
  readonly records: readonly InputRecord[];
  readonly pointCount: number;
  /**
   * A range of dates whose whole `alignTo` periods lie inside the window of every aligned RelativeDate or LastNPoints
   * input. Undefined when there is no such input.
   */
  readonly whole: DateRange | undefined;
}

export interface InputsWanted {
  /** Index of the formula in its declaration. */
  readonly formula: number;
  readonly inputs: readonly InputDeclaration[];
  readonly changed: DateRange;
  /** Every existing variable to which an input refers. */
  readonly variables: ReadonlyMap<number, KnownVariable>;
  /**
   * Maximum number of points that the inputs of this formula may have together: `maxPoints` minus the points that the
   * run has already read for other formulas. A bucket counts as one point.
   */
  readonly remainingPoints: number;
  /** Maximum number of points of the whole run: CALC_MAX_INPUT_POINTS. */
  readonly maxPoints: number;
}

/**
 * Reads each input of a formula within the window of that input (R-H2, R-H6).
 * @param transaction a read-only transaction with isolation level repeatable read. In a claimed run, the transaction
 *   began after the claim.
 * @throws {DomainError} not_found when the variable of an input does not exist; invalid_input when the unit of an input
 *   cannot be converted, when a converted or aggregated value exceeds the range of a double, or when the inputs
 *   together have more than `remainingPoints` points.
 */
export async function loadInputs(
  transaction: Transaction,
  dictionary: Dictionary,
  { formula, inputs: declared, changed, variables, remainingPoints, maxPoints }: InputsWanted,
): Promise<LoadedInputs> {
  const scales = await findScales(transaction, declared, variables);
  const stamps = await findLastVersionTimestamps(transaction, declared);
  const inputs: SandboxInput[] = [];
  const records: InputRecord[] = [];
  let pointCount = 0;
  let whole: DateRange | undefined;
  for (const [index, input] of declared.entries()) {
    const variable = getVariable(input, variables);
    const version = await chooseVersion(transaction, input, variable.timeZoneId);
    const plan = planInput(input, variable, version, scales[index]);
    const window = await windowOf(transaction, plan, changed);
    const columns = await readColumns(transaction, plan, window, remainingPoints - pointCount);
    pointCount += columns.pointCount;
    if (pointCount > remainingPoints) throw tooManyPoints(input, maxPoints);
    const labels = await dictionary.labelsOf(columns.labelIds(), transaction);
    whole = intersect(whole, window.whole);
    const series = columns.finish(labels);
    inputs.push({ alias: input.alias, variable: plan.variable.info, series, window: toSeconds(window) });
    const selection = { ...plan.selection, ...periodOf(window), order: 'ASC' } as const;
    const [[cut], [raw]] = [await findHistoryCuts(transaction, selection), await findRolledUp(transaction, selection)];
    records.push(toRecord(formula, plan, window, columns, { last: stamps.get(input.variableId) ?? null, cut, raw }));
  }
  return { inputs, records, pointCount, whole };
}

function intersect(first: DateRange | undefined, second: DateRange | undefined): DateRange | undefined {
  if (!first || !second) return first ?? second;
  return {
    fromMicros: Math.max(first.fromMicros, second.fromMicros),
    toMicros: Math.min(first.toMicros, second.toMicros),
  };
}

/**
 * Returns the start and end of a window in whole seconds, the unit in which scripts see dates; null for a side on which
 * the window is open.
 */
function toSeconds({ fromMicros, toMicros }: Window): DateWindow {
  const floor = (micros: number | undefined) => (micros === undefined ? null : Math.floor(micros / MICROS_PER_SECOND));
  return { from: floor(fromMicros), to: floor(toMicros) };
}

/** What a read of one input needs, except the window and the limit of points. */
interface InputPlan {
  readonly input: InputDeclaration;
  readonly variable: KnownVariable;
  readonly selection: Pick<PointSelection, 'variableIds' | 'version' | 'scales'>;
  /** Buckets that the input is aggregated into; undefined for raw points. */
  readonly buckets: Buckets | undefined;
}

function getVariable(input: InputDeclaration, variables: ReadonlyMap<number, KnownVariable>): KnownVariable {
  const variable = variables.get(input.variableId);
  if (variable) return variable;
  throw new DomainError('not_found', `input ${input.alias}: variable ${input.variableId} does not exist`);
}

async function findScales(
  transaction: Transaction,
  inputs: readonly InputDeclaration[],
  variables: ReadonlyMap<number, KnownVariable>,
): Promise<readonly (LinearScale | undefined)[]> {
  const pairs = inputs.map((input) => ({ unitId: getVariable(input, variables).unitId, wantedId: input.unitId }));
  // The variables that a formula reads belong to one account.
  const [first] = variables.values();
  const found = first ? await findInputScales(transaction, first.accountId, pairs) : [];
  return found.map((scale, index) => {
    if (scale.kind === 'ok') return scale.scale;
    throw new DomainError('invalid_input', `input ${inputs[index]?.alias}, unitId: ${scale.message}`);
  });
}

function planInput(
  input: InputDeclaration,
  variable: KnownVariable,
  version: VersionChoice,
  scale: LinearScale | undefined,
): InputPlan {
  const bucket = BUCKETS[input.granularity];
  const { timeZoneId } = variable;
  const buckets: Buckets | undefined = bucket && {
    bucket,
    timeZoneId,
    functionOf: () => FUNCTIONS[input.aggregation ?? variable.aggregate],
    startOfDay: startOfDay(timeZoneId),
    fill: 'none',
  };
  const selection = {
    variableIds: [input.variableId],
    version,
    ...(scale && { scales: new Map([[input.variableId, scale]]) }),
  };
  return { input, variable, selection, buckets };
}

function windowOf(transaction: Transaction, { input, variable, selection, buckets }: InputPlan, changed: DateRange) {
  const findNthBefore: FindNthBefore = async (limit, toMicros) => {
    // The granularity `All` puts the last N points into one bucket, so for `All` this search counts points, not
    // buckets.
    const grouped = buckets?.bucket === 'all' ? undefined : buckets;
    const wanted: PointSelection = { ...selection, toMicros, isToIncluded: true, order: 'DESC', limit };
    let first: number | undefined;
    for await (const { dates } of readChunks(transaction, wanted, grouped)) first = dates.at(-1) ?? first;
    return first;
  };
  return findWindow(input, changed, variable.timeZoneId, buckets?.bucket, findNthBefore);
}

function periodOf({ fromMicros, toMicros }: Window): Pick<PointSelection, 'fromMicros' | 'toMicros' | 'isToIncluded'> {
  return {
    ...(fromMicros !== undefined && { fromMicros }),
    ...(toMicros !== undefined && { toMicros, isToIncluded: true }),
  };
}

/**
 * Reads at most `remainingPoints` + 1 points or buckets of an input. The extra one tells the caller that the input has
 * too many.
 */
async function readColumns(
  transaction: Transaction,
  { selection, buckets }: InputPlan,
  window: Window,
  remainingPoints: number,
): Promise<InputColumns> {
  const columns = new InputColumns();
  const wanted: PointSelection = {
    ...selection,
    ...periodOf(window),
    order: 'ASC',
    limit: remainingPoints + 1,
  };
  await visitAll(readChunks(transaction, wanted, buckets), (chunk) => columns.add(chunk));
  return columns;
}

function tooManyPoints({ alias }: InputDeclaration, maxPoints: number): DomainError {
  const rule = `input ${alias} brings the run above its maximum of ${maxPoints.toLocaleString('en')} input points (CALC_MAX_INPUT_POINTS)`;
  const advice = 'declare a shorter period or a coarser granularity, or update fewer dates at a time';
  return new DomainError('invalid_input', `${rule}; ${advice}`);
}

/**
 * Calls `visit` with each item. When `visit` fails, the remaining items are read and ignored before the error is
 * thrown, because ending a read early would close the connection, which holds the lock of a claimed run.
 */
async function visitAll<Item>(items: AsyncIterable<Item>, visit: (item: Item) => void): Promise<void> {
  let failure: { readonly error: unknown } | undefined;
  for await (const item of items) {
    if (failure) continue;
    try {
      visit(item);
    } catch (error) {
      failure = { error };
    }
  }
  if (failure) throw failure.error;
}

function readChunks(
  transaction: Transaction,
  selection: PointSelection,
  buckets: Buckets | undefined,
): AsyncIterable<PointChunk | AggregateChunk> {
  return buckets ? aggregatePoints(transaction, selection, buckets) : readPoints(transaction, selection);
}

async function findLastVersionTimestamps(
  transaction: Transaction,
  inputs: readonly InputDeclaration[],
): Promise<ReadonlyMap<number, string>> {
  const { rows } = await transaction.query<{ id: number; last: string }>({
    name: 'calculation-last-versions',
    text: `select variable_id as id, last_version_timestamp as last from series
           where variable_id = any($1::int[]) and last_version_timestamp > '-infinity'`,
    values: [inputs.map(({ variableId }) => variableId)],
  });
  return new Map(rows.map(({ id, last }) => [id, last]));
}

interface Stamps {
  readonly last: string | null;
  readonly cut: HistoryCut | undefined;
  readonly raw: RawBoundary | undefined;
}

function toRecord(
  formula: number,
  { input, buckets, selection }: InputPlan,
  { fromMicros, toMicros }: Window,
  { pointCount }: InputColumns,
  { last: lastVersionTimestamp, cut, raw }: Stamps,
): InputRecord {
  const { alias, variableId, granularity, alignTo, version, horizon, tags } = input;
  const { asOfMicros } = selection.version;
  return {
    ...{ formula, alias, variableId },
    from: fromMicros === undefined ? null : formatInstant(fromMicros),
    to: toMicros === undefined ? null : formatInstant(toMicros),
    points: pointCount,
    ...(buckets && { granularity, aggregation: buckets.functionOf(variableId) }),
    ...(alignTo && { alignTo }),
    ...(version && { version }),
    ...(asOfMicros !== undefined && { asOf: formatInstant(asOfMicros) }),
    ...(horizon && { horizon }),
    ...(tags && { tags: [tags].flat() }),
    lastVersionTimestamp,
    ...(cut && { historyFrom: formatInstant(cut.historyFromMicros) }),
    ...(raw && { rawFrom: formatInstant(raw.rawFromMicros) }),
  };
}

/**
 * Selects the versions of an input as a read does (R-G2). The months and days of a relative version or a horizon are
 * subtracted in the time zone of the input's source.
 */
function chooseVersion(
  queryable: Queryable,
  { version, asOf, relativeVersion, horizon, tags }: InputDeclaration,
  timeZoneId: string,
): Promise<VersionChoice> {
  const relative = relativeVersion ? parseRelative(relativeVersion) : undefined;
  return resolveVersion(queryable, {
    versionTags: version ? [version].flat() : [],
    asOfMicros: instantMicros(asOf),
    relative: relative === CURRENT ? undefined : relative,
    horizon: horizon ? parseDuration(horizon) : undefined,
    tags: tags ? [tags].flat().map(toPair) : [],
    timeZoneId,
  });
}

function toPair(tag: string): readonly [key: string, value: string] {
  const colon = tag.indexOf(':');
  return [tag.slice(0, colon), tag.slice(colon + 1)];
}
