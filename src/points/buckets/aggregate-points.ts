/**
 * Aggregates the points of a selection by civil buckets (R-G1): minutes and hours follow the clock of the time zone;
 * days, weeks (from Monday), months and years begin at the first instant of their first date. The selection determines
 * which versions of each point are aggregated. The database computes the aggregates; this process fills the gaps while
 * it receives the buckets.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type OpenedRows,
  type SnapshotSource,
  streamInSnapshot,
  type Transaction,
} from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { PointSelection } from '../point.ts';
import { awaitWritersOf } from '../read/await-writers.ts';
import { copyRows } from '../read/copy-rows.ts';
import {
  type ChosenLabels,
  findChosenLabels,
  isNothingChosen,
  NO_LABELS,
  needsLabels,
} from '../read/find-chosen-labels.ts';
import { type NoteCuts, openingOf, toNotice } from '../read/history-cuts.ts';
import { EIGHT_BYTES, FOUR_BYTES, readDoubles, readInstants, rowLayout, runsOf } from '../read/row-codec.ts';
import { scaleAggregates, unscaledFunction } from '../read/scale-values.ts';
import { groupsOf, streamFromIndexes } from '../read/select-of-variables.ts';
import { findRolledUp, type RawBoundary } from '../rollups/find-rolled-up.ts';
import { isAnsweredByRollups } from '../rollups/select-rollups.ts';
import type { AggregateChunk, AggregateFunction, Buckets } from './bucket.ts';
import { type BucketRun, fillBuckets } from './fill-buckets.ts';
import { planFilling } from './plan-filling.ts';
import { type BucketSelection, selectBuckets } from './select-buckets.ts';

const LAYOUT = rowLayout([FOUR_BYTES, EIGHT_BYTES, EIGHT_BYTES, EIGHT_BYTES]);
const [START, VALUE, POINTS] = [1, 2, 3] as const;
const NUMERIC_VALUE_OUT_OF_RANGE = '22003';
/** Maximum number of variable ids in the error message of an overflow. */
const MAX_NAMED = 20;

/**
 * Streams the aggregates of a selection, variable by variable (R-G1). The limit and the offset of the selection apply
 * to the buckets of each variable separately. They also count the empty buckets that gap filling adds.
 * @param transaction a read-only, repeatable-read transaction, as for `readPoints`.
 * @throws {DomainError} invalid_input in each of these cases:
 * - Gap filling would have to fill more than `MAX_FILLED` empty buckets of a variable.
 * - Gap filling is requested, the selection has no limit, and its period has more than `MAX_FILLED` buckets.
 * - A result exceeds the range of a double.
 */
export async function* aggregatePoints(
  transaction: Transaction,
  selection: PointSelection,
  buckets: Buckets,
): AsyncGenerator<AggregateChunk> {
  const labels = await findChosenLabels(transaction, selection);
  const rolledUp = await findRollups(transaction, selection);
  await streamFromIndexes(transaction);
  yield* aggregateChosen(transaction, selection, buckets, labels, rolledUp);
}

/** Does the work of `aggregatePoints`. Call `streamFromIndexes` in the transaction first. */
async function* aggregateChosen(
  transaction: Transaction,
  selection: PointSelection,
  buckets: Buckets,
  labels: ChosenLabels,
  rolledUp: ReadonlySet<number>,
): AsyncGenerator<AggregateChunk> {
  const filling = planFilling(selection, buckets);
  for (const { aggregate, computed, isRolledUp, variableIds } of groupsOfFunction(selection, buckets, rolledUp)) {
    const page = filling?.pageOf(computed) ?? selection;
    const wanted = { selection, labels, buckets, aggregate: computed, isRolledUp, page };
    const found = readBuckets(transaction, variableIds, wanted);
    const runs = filling ? fillBuckets(variableIds, found, filling.options, selection) : found;
    for await (const { variableId, starts, values } of runs) yield { variableId, aggregate, dates: starts, values };
  }
}

/**
 * Runs `aggregatePoints` in a new snapshot. An as-of read first waits for open writes whose points it may include
 * (R-F5).
 * @param signal signal that ends the read and its statement.
 * @param noteCuts function that receives the history cuts and the rollups that concern the read (R-F9).
 * @throws the same errors as `aggregatePoints`.
 * @throws {DomainError} dependency_unavailable when an open write does not end in time.
 * @throws the reason of `signal` when `signal` is aborted.
 */
export async function* streamAggregates(
  source: SnapshotSource,
  selection: PointSelection,
  buckets: Buckets,
  signal?: AbortSignal,
  noteCuts?: NoteCuts,
): AsyncGenerator<AggregateChunk> {
  await awaitWritersOf(source, selection, signal);
  const read = (transaction: Transaction, opened: OpenedRows) => {
    const [cuts, rolledUp] = toNotice(opened);
    noteCuts?.(cuts, rolledUp);
    return needsLabels(selection)
      ? aggregatePoints(transaction, selection, buckets)
      : aggregateChosen(transaction, selection, buckets, NO_LABELS, answeredByRollups(selection, rolledUp));
  };
  yield* streamInSnapshot(source, read, signal, openingOf(selection));
}

/**
 * Counts the buckets of all variables of a selection, ignoring its limit and offset (R-G1). Without gap filling, the
 * database counts. With gap filling, this process counts and yields to the event loop between chunks.
 * @param signal signal that ends a count with gap filling: the function then throws the reason of the signal.
 * @throws {DomainError} invalid_input in the cases of `aggregatePoints` for the selection without its limit and offset.
 *   Never thrown when `buckets.fill` is `none`.
 */
export async function countBuckets(
  transaction: Transaction,
  selection: PointSelection,
  buckets: Buckets,
  signal?: AbortSignal,
): Promise<number> {
  const { limit: _limit, offset: _offset, ...whole } = selection;
  if (buckets.fill === 'none') return countFound(transaction, whole, buckets);
  let count = 0;
  for await (const { dates } of aggregatePoints(transaction, whole, buckets)) {
    count += dates.length;
    await nextTurn();
    signal?.throwIfAborted();
  }
  return count;
}

async function countFound(transaction: Transaction, selection: PointSelection, buckets: Buckets): Promise<number> {
  const labels = await findChosenLabels(transaction, selection);
  if (isNothingChosen(labels)) return 0;
  const rolledUp = await findRollups(transaction, selection);
  await streamFromIndexes(transaction);
  let count = 0;
  const counted = { ...buckets, functionOf: () => 'count' as const };
  for (const { variableIds, isRolledUp } of groupsOfFunction(selection, counted, rolledUp)) {
    const wanted = { selection, labels, buckets, aggregate: 'count', isRolledUp, page: {} } as const;
    const found = selectBuckets(variableIds, wanted);
    const { rows } = await transaction.query<{ count: number }>(`select count(*) as count from (${found}) found`);
    count += rows[0]?.count ?? 0;
  }
  return count;
}

/** @returns the variables for which the read combines rollups with raw points. */
async function findRollups(transaction: Transaction, selection: PointSelection): Promise<ReadonlySet<number>> {
  return isAnsweredByRollups(selection)
    ? answeredByRollups(selection, await findRolledUp(transaction, selection))
    : new Set();
}

function answeredByRollups(selection: PointSelection, rolledUp: readonly RawBoundary[]): ReadonlySet<number> {
  return new Set(isAnsweredByRollups(selection) ? rolledUp.map(({ variableId }) => variableId) : []);
}

interface FunctionGroup {
  readonly aggregate: AggregateFunction;
  /**
   * The function that the database applies to the unscaled values: `aggregate`, with min and max swapped if the scale
   * factor is negative.
   */
  readonly computed: AggregateFunction;
  readonly isRolledUp: boolean;
  readonly variableIds: readonly number[];
}

/** Groups consecutive variables that one statement can aggregate. */
function* groupsOfFunction(
  { variableIds, scales }: PointSelection,
  { functionOf }: Buckets,
  rolledUp: ReadonlySet<number>,
): Generator<FunctionGroup> {
  for (const group of groupsOf(variableIds)) {
    let current: (Omit<FunctionGroup, 'variableIds'> & { variableIds: number[] }) | undefined;
    for (const variableId of group) {
      const aggregate = functionOf(variableId);
      const computed = unscaledFunction(aggregate, scales?.get(variableId));
      const isRolledUp = rolledUp.has(variableId);
      const isSame = current?.aggregate === aggregate && current.computed === computed;
      if (isSame && current?.isRolledUp === isRolledUp) current.variableIds.push(variableId);
      else {
        if (current) yield current;
        current = { aggregate, computed, isRolledUp, variableIds: [variableId] };
      }
    }
    if (current) yield current;
  }
}

async function* readBuckets(
  transaction: Transaction,
  variableIds: readonly number[],
  wanted: BucketSelection,
): AsyncGenerator<BucketRun> {
  const { selection, buckets, aggregate, labels } = wanted;
  if (isNothingChosen(labels)) return;
  const toInstants = instantsOf(selection, buckets);
  try {
    for await (const block of copyRows(transaction, selectBuckets(variableIds, wanted), LAYOUT)) {
      for (const run of runsOf(block)) {
        const { variableId } = run;
        const starts = toInstants(readInstants(block, run, START));
        const values = readDoubles(block, run, VALUE);
        const scale = selection.scales?.get(variableId);
        if (scale) {
          scaleAggregates({ variableId, dates: starts, values }, readDoubles(block, run, POINTS), aggregate, scale);
        }
        yield { variableId, starts, values };
      }
    }
  } catch (error) {
    const isOverflow = error instanceof Error && 'code' in error && error.code === NUMERIC_VALUE_OUT_OF_RANGE;
    throw isOverflow
      ? new DomainError(
          'invalid_input',
          `the ${aggregate} of a bucket of ${nameVariables(variableIds)} exceeds the range of a double ` +
            '(about 1.8e308); request a finer granularity, a shorter period or another aggregate',
        )
      : error;
  }
}

/**
 * Describes the variables of a statement for an error message. Lists their ids; above `MAX_NAMED`, only their number.
 */
function nameVariables(ids: readonly number[]): string {
  if (ids.length === 1) return `variable ${ids[0]}`;
  return ids.length <= MAX_NAMED ? `one of the variables ${ids.join(', ')}` : `one of ${ids.length} variables`;
}

/** Returns the function that turns bucket starts, as read from the database, into instants. */
function instantsOf(
  { fromMicros }: PointSelection,
  { bucket, startOfDay }: Buckets,
): (starts: Float64Array) => Float64Array {
  if (bucket === 'minute' || bucket === 'hour') return (starts) => starts;
  if (bucket !== 'all') return (starts) => starts.map(startOfDay);
  return (starts) => (fromMicros === undefined ? starts : starts.fill(fromMicros));
}
