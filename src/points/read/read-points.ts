/**
 * The one reader of points, for REST, gRPC and the inputs of calculations. It walks the variables in the order asked
 * for and streams each as chunks of columns in one snapshot: memory does not grow with the answer.
 */
import { type Database, streamInSnapshot, type Transaction } from '../../platform/database/database.ts';
import type { LinearScale, PointChunk, PointSelection } from '../point.ts';
import { awaitWritersOf } from './await-writers.ts';
import { copyRows } from './copy-rows.ts';
import { type ChosenLabels, findChosenLabels, isNothingChosen } from './find-chosen-labels.ts';
import {
  EIGHT_BYTES,
  FOUR_BYTES,
  type RowBlock,
  type RowLayout,
  type RowRun,
  readDoubles,
  readInstants,
  readIntegers,
  rowLayout,
  runsOf,
} from './row-codec.ts';
import { scaleValues } from './scale-values.ts';
import { groupsOf, selectOfVariables, streamFromIndexes, VARIABLE } from './select-of-variables.ts';
import { ALL_COLUMNS, orderOf, pagingClause, selectVersions } from './select-versions.ts';

// The variable's id comes from the row, so that every column of it is read (see `selectVersions`).
export const POINT_COLUMNS =
  'wanted.variable_id, wanted.date, wanted.value, wanted.version_timestamp, wanted.version_tag_id, wanted.tag_set_id';
export const POINT_LAYOUT: RowLayout = rowLayout([
  FOUR_BYTES,
  EIGHT_BYTES,
  EIGHT_BYTES,
  EIGHT_BYTES,
  FOUR_BYTES,
  FOUR_BYTES,
]);
const [DATE, VALUE, VERSION_TIMESTAMP, VERSION_TAG_ID, TAG_SET_ID] = [1, 2, 3, 4, 5] as const;

/**
 * Streams the points of a selection, variable by variable.
 * @param transaction a read-only, repeatable-read transaction of the caller: one snapshot for all variables. It can do
 *   nothing else while this runs; when this is left before its end, its connection is broken.
 * @returns chunks of at most `BLOCK_ROWS` points by date, the versions of one date by VersionTimestamp; none for a
 *   variable without points.
 * @throws DomainError invalid_input when a converted value is beyond what a double holds.
 */
export async function* readPoints(transaction: Transaction, selection: PointSelection): AsyncGenerator<PointChunk> {
  const labels = await findChosenLabels(transaction, selection);
  if (isNothingChosen(labels)) return;
  await streamFromIndexes(transaction);
  for (const variableIds of groupsOf(selection.variableIds)) {
    const statement = selectPoints(selection, variableIds, labels);
    for await (const block of copyRows(transaction, statement, POINT_LAYOUT)) {
      for (const run of runsOf(block)) yield toPointChunk(block, run, selection.scales?.get(run.variableId));
    }
  }
}

/** As `readPoints`, in a snapshot of its own, which ends with the signal. As-of, it is the same whenever it is read. */
export async function* streamPoints(
  database: Database,
  selection: PointSelection,
  signal?: AbortSignal,
): AsyncGenerator<PointChunk> {
  await awaitWritersOf(database, selection, signal);
  yield* streamInSnapshot(database, (transaction) => readPoints(transaction, selection), signal);
}

/** Counts the points a selection without paging would give, over all its variables. */
export async function countPoints(transaction: Transaction, selection: PointSelection): Promise<number> {
  const labels = await findChosenLabels(transaction, selection);
  if (isNothingChosen(labels)) return 0;
  await streamFromIndexes(transaction);
  let count = 0;
  for (const variableIds of groupsOf(selection.variableIds)) {
    const perVariable = `select count(*) as points from (${selectVersions(selection, VARIABLE, labels, 'date')}) version`;
    const counts = selectOfVariables(variableIds, 'wanted.points', perVariable);
    const { rows } = await transaction.query<{ count: number }>(
      `select coalesce(sum(points), 0)::int8 as count from (${counts}) counted`,
    );
    count += rows[0]?.count ?? 0;
  }
  return count;
}

/** The statement of `readPoints` for some variables. */
export function selectPoints(selection: PointSelection, variableIds: readonly number[], labels: ChosenLabels): string {
  const versions = selectVersions(selection, VARIABLE, labels, ALL_COLUMNS);
  // Without an order of its own the page could be taken from rows in any order.
  const page = `select * from (${versions}) version order by ${orderOf(selection)}${pagingClause(selection)}`;
  return selectOfVariables(variableIds, POINT_COLUMNS, page);
}

/** Rows of `POINT_COLUMNS` as columns. */
export function toPointChunk(block: RowBlock, run: RowRun, scale: LinearScale | undefined): PointChunk {
  const values = readDoubles(block, run, VALUE);
  if (scale) scaleValues(values, scale, run.variableId);
  return {
    variableId: run.variableId,
    dates: readInstants(block, run, DATE),
    values,
    versionTimestamps: readInstants(block, run, VERSION_TIMESTAMP),
    versionTagIds: readIntegers(block, run, VERSION_TAG_ID),
    tagSetIds: readIntegers(block, run, TAG_SET_ID),
  };
}
