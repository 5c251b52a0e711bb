/**
 * Fills the gaps of several variables by the rules of fill-rules.ts while buckets arrive, and applies paging to the
 * filled buckets of each variable.
 */
import { DomainError } from '../../platform/errors.ts';
import type { Micros, PointSelection } from '../point.ts';
import { BLOCK_ROWS } from '../read/copy-rows.ts';
import { createFiller, type FilledBucket, type FillOptions } from './fill-rules.ts';

/** Maximum number of gaps filled for one variable. */
export const MAX_FILLED = 5_000_000;

/** Buckets of one variable in the order of the read, as two arrays of equal length. There can be gaps between them. */
export interface BucketRun {
  readonly variableId: number;
  readonly starts: Float64Array;
  /** Value of each bucket; NaN when the bucket has no value. */
  readonly values: Float64Array;
}

/**
 * Streams the buckets of all variables, and fills the gaps of each variable.
 *
 * @param variableIds ids of all variables that were read. A variable without any bucket may still have gaps.
 * @param runs buckets that have points, in the order of `variableIds`. A variable without such buckets is absent.
 * @param page limit and offset within the buckets of each variable. Buckets that fill gaps count, too.
 * @throws {DomainError} invalid_input when more than `MAX_FILLED` gaps of a variable must be filled.
 */
export async function* fillBuckets(
  variableIds: readonly number[],
  runs: AsyncIterable<BucketRun>,
  options: FillOptions,
  page: Pick<PointSelection, 'limit' | 'offset'>,
): AsyncGenerator<BucketRun> {
  let next = 0;
  let current: VariableFill | undefined;
  const open = (): VariableFill => {
    const variableId = variableIds[next];
    if (variableId === undefined) throw new Error('buckets must arrive in the order of the variables');
    current ??= fillVariable(variableId, options, page);
    return current;
  };
  function* close(): Generator<BucketRun> {
    yield* open().finish();
    current = undefined;
    next += 1;
  }
  for await (const run of runs) {
    while (variableIds[next] !== run.variableId) yield* close();
    yield* open().push(run);
  }
  while (next < variableIds.length) yield* close();
}

interface VariableFill {
  push(run: BucketRun): Generator<BucketRun>;
  finish(): Generator<BucketRun>;
}

function fillVariable(
  variableId: number,
  options: FillOptions,
  { limit = Number.POSITIVE_INFINITY, offset = 0 }: Pick<PointSelection, 'limit' | 'offset'>,
): VariableFill {
  const filler = createFiller(options);
  const columns = createColumns(variableId);
  let bucketIndex = 0;
  let gaps = 0;
  const end = offset + limit;
  function* take(buckets: Iterable<FilledBucket>): Generator<BucketRun> {
    for (const { start, value, isGap } of buckets) {
      if (isGap) gaps += 1;
      if (gaps > MAX_FILLED) throw tooManyGaps(variableId);
      if (bucketIndex >= offset) yield* columns.add(start, value);
      bucketIndex += 1;
      if (bucketIndex >= end) return;
    }
  }
  return {
    *push({ starts, values }) {
      for (const [index, start] of starts.entries()) {
        if (bucketIndex >= end) return;
        yield* take(filler.push({ start, value: values[index] ?? Number.NaN }));
      }
    },
    *finish() {
      if (bucketIndex < end) yield* take(filler.finish());
      yield* columns.flush();
    },
  };
}

/**
 * Collects the buckets of a variable in arrays, and yields the buckets in `BucketRun`s of at most `BLOCK_ROWS` buckets.
 */
function createColumns(variableId: number) {
  let starts: number[] = [];
  let values: number[] = [];
  function* flush(): Generator<BucketRun> {
    if (starts.length > 0) {
      yield { variableId, starts: Float64Array.from(starts), values: Float64Array.from(values) };
    }
    starts = [];
    values = [];
  }
  return {
    flush,
    *add(start: Micros, value: number): Generator<BucketRun> {
      starts.push(start);
      values.push(value);
      if (starts.length === BLOCK_ROWS) yield* flush();
    },
  };
}

/**
 * @param variableId id of the variable that has too many gaps; undefined when the period itself has more than
 * `MAX_FILLED` buckets.
 * @returns the error invalid_input for a read that may have to fill more than `MAX_FILLED` buckets of a variable.
 */
export function tooManyGaps(variableId?: number): DomainError {
  const limit = `${MAX_FILLED} buckets`;
  const rule =
    variableId === undefined
      ? `when gaps are filled, the period must have at most ${limit}`
      : `when gaps are filled, variable ${variableId} may have at most ${MAX_FILLED} empty buckets in the period`;
  return new DomainError('invalid_input', `${rule}; request a shorter period or a coarser granularity`);
}
