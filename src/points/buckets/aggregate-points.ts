/**
 * Points of a selection by buckets of civil time (R-G1): minutes and hours are as long as the clock makes them, days,
 * weeks (from Monday), months and years begin at local midnight in the zone asked for. Whatever version was chosen, the
 * aggregates are of that. The database adds up; gaps are filled here, as the buckets come.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Database, streamInSnapshot, type Transaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { PointSelection } from '../point.ts';
import { awaitWritersOf } from '../read/await-writers.ts';
import { copyRows } from '../read/copy-rows.ts';
import { findChosenLabels, isNothingChosen } from '../read/find-chosen-labels.ts';
import { EIGHT_BYTES, FOUR_BYTES, readDoubles, readInstants, rowLayout, runsOf } from '../read/row-codec.ts';
import { scaleAggregates, unscaledFunction } from '../read/scale-values.ts';
import { groupsOf, streamFromIndexes } from '../read/select-of-variables.ts';
import type { AggregateChunk, AggregateFunction, Buckets } from './bucket.ts';
import { type BucketRun, fillBuckets } from './fill-buckets.ts';
import { planFilling } from './plan-filling.ts';
import { type BucketSelection, selectBuckets } from './select-buckets.ts';

const LAYOUT = rowLayout([FOUR_BYTES, EIGHT_BYTES, EIGHT_BYTES, EIGHT_BYTES]);
const [START, VALUE, POINTS] = [1, 2, 3] as const;
const NUMERIC_VALUE_OUT_OF_RANGE = '22003';

/**
 * Streams the aggregates of a selection, variable by variable; its paging counts buckets, filled ones too.
 * @param transaction as for `readPoints`.
 * @throws DomainError invalid_input when a variable has more gaps than may be filled, or a result is beyond what a
 *   number can hold.
 */
export async function* aggregatePoints(
  transaction: Transaction,
  selection: PointSelection,
  buckets: Buckets,
): AsyncGenerator<AggregateChunk> {
  const filling = planFilling(selection, buckets);
  const labels = await findChosenLabels(transaction, selection);
  await streamFromIndexes(transaction);
  for (const { aggregate, computed, variableIds } of groupsOfFunction(selection, buckets)) {
    const page = filling?.pageOf(computed) ?? selection;
    const found = readBuckets(transaction, variableIds, { selection, labels, buckets, aggregate: computed, page });
    const runs = filling ? fillBuckets(variableIds, found, filling.options, selection) : found;
    for await (const { variableId, starts, values } of runs) yield { variableId, aggregate, dates: starts, values };
  }
}

/** As `aggregatePoints`, in a snapshot of its own, which ends with the signal. As-of, it is the same whenever it is read. */
export async function* streamAggregates(
  database: Database,
  selection: PointSelection,
  buckets: Buckets,
  signal?: AbortSignal,
): AsyncGenerator<AggregateChunk> {
  await awaitWritersOf(database, selection, signal);
  yield* streamInSnapshot(database, (transaction) => aggregatePoints(transaction, selection, buckets), signal);
}

/**
 * Counts the buckets a selection without paging would give, over all its variables. Counting filled ones is work of this
 * process: others are served in between, and it ends with the signal.
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
  await streamFromIndexes(transaction);
  let count = 0;
  for (const variableIds of groupsOf(selection.variableIds)) {
    const found = selectBuckets(variableIds, { selection, labels, buckets, aggregate: 'count', page: {} });
    const { rows } = await transaction.query<{ count: number }>(`select count(*) as count from (${found}) found`);
    count += rows[0]?.count ?? 0;
  }
  return count;
}

interface FunctionGroup {
  readonly aggregate: AggregateFunction;
  /** What the database works out for it. */
  readonly computed: AggregateFunction;
  readonly variableIds: readonly number[];
}

/** Consecutive variables of one function share a statement. */
function* groupsOfFunction({ variableIds, scales }: PointSelection, { functionOf }: Buckets): Generator<FunctionGroup> {
  for (const group of groupsOf(variableIds)) {
    let current: { aggregate: AggregateFunction; computed: AggregateFunction; variableIds: number[] } | undefined;
    for (const variableId of group) {
      const aggregate = functionOf(variableId);
      const computed = unscaledFunction(aggregate, scales?.get(variableId));
      if (current?.aggregate === aggregate && current.computed === computed) current.variableIds.push(variableId);
      else {
        if (current) yield current;
        current = { aggregate, computed, variableIds: [variableId] };
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
        const values = readDoubles(block, run, VALUE);
        const scale = selection.scales?.get(variableId);
        if (scale) scaleAggregates(values, readDoubles(block, run, POINTS), aggregate, scale, variableId);
        yield { variableId, starts: toInstants(readInstants(block, run, START)), values };
      }
    }
  } catch (error) {
    const isOverflow = error instanceof Error && 'code' in error && error.code === NUMERIC_VALUE_OUT_OF_RANGE;
    throw isOverflow ? new DomainError('invalid_input', `a ${aggregate} is beyond what a number can hold`) : error;
  }
}

/** Begins of buckets as the database knows them → instants, in place. */
function instantsOf(
  { fromMicros }: PointSelection,
  { bucket, startOfDay }: Buckets,
): (starts: Float64Array) => Float64Array {
  if (bucket === 'minute' || bucket === 'hour') return (starts) => starts;
  if (bucket !== 'all') return (starts) => starts.map(startOfDay);
  return (starts) => (fromMicros === undefined ? starts : starts.fill(fromMicros));
}
