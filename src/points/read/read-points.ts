/**
 * Reads points that are not aggregated, for REST, gRPC and the inputs of calculations. Streams the points as columnar
 * chunks from one snapshot, one variable after the other, in the order of the selection. So the memory that a read
 * needs does not depend on the size of the answer.
 */
import {
  type OpenedRows,
  type SnapshotSource,
  streamInSnapshot,
  type Transaction,
} from '../../platform/database/database.ts';
import type { LinearScale, PointChunk, PointSelection, ValueChunk } from '../point.ts';
import { awaitWritersOf } from './await-writers.ts';
import { copyRows } from './copy-rows.ts';
import { type ChosenLabels, findChosenLabels, isNothingChosen, NO_LABELS, needsLabels } from './find-chosen-labels.ts';
import { type NoteCuts, openingOf, toNotice } from './history-cuts.ts';
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

// All columns of the stored row.
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

/** Columns that a read selects, and the function that decodes them. */
interface ReadShape<Chunk> {
  readonly columns: string;
  readonly layout: RowLayout;
  readonly toChunk: (block: RowBlock, run: RowRun, scale: LinearScale | undefined) => Chunk;
}

const WHOLE: ReadShape<PointChunk> = { columns: POINT_COLUMNS, layout: POINT_LAYOUT, toChunk: toPointChunk };
const VALUES: ReadShape<ValueChunk> = {
  columns: 'wanted.variable_id, wanted.date, wanted.value',
  layout: rowLayout([FOUR_BYTES, EIGHT_BYTES, EIGHT_BYTES]),
  toChunk: toValueChunk,
};

/**
 * Streams the points of a selection, variable by variable.
 *
 * @param transaction a read-only, repeatable-read transaction: one snapshot for all variables. Its connection is busy
 * until the stream ends; ending the stream early breaks the connection.
 * @returns chunks of at most `BLOCK_ROWS` points of one variable. The points are sorted by date and, within a date, by
 * VersionTimestamp; `selection.order` is the direction of both. A variable without points has no chunk.
 * @throws {DomainError} invalid_input when a converted value exceeds the range of a double (R-C8).
 */
export function readPoints(transaction: Transaction, selection: PointSelection): AsyncGenerator<PointChunk> {
  return readShape(transaction, selection, WHOLE);
}

async function* readShape<Chunk>(
  transaction: Transaction,
  selection: PointSelection,
  shape: ReadShape<Chunk>,
): AsyncGenerator<Chunk> {
  const labels = await findChosenLabels(transaction, selection);
  if (isNothingChosen(labels)) return;
  await streamFromIndexes(transaction);
  yield* readChosen(transaction, selection, labels, shape);
}

/**
 * Reads the points of a selection. `labels` has the ids of the labels that the selection names. Call
 * `streamFromIndexes` in the transaction first.
 */
async function* readChosen<Chunk>(
  transaction: Transaction,
  selection: PointSelection,
  labels: ChosenLabels,
  { columns, layout, toChunk }: ReadShape<Chunk>,
): AsyncGenerator<Chunk> {
  for (const variableIds of groupsOf(selection.variableIds)) {
    const statement = selectPoints(selection, variableIds, labels, columns);
    for await (const block of copyRows(transaction, statement, layout)) {
      for (const run of runsOf(block)) yield toChunk(block, run, selection.scales?.get(run.variableId));
    }
  }
}

/**
 * Runs `readPoints` in a new snapshot. First waits for writes that can still change the points of an as-of selection
 * (`awaitWritersOf`, R-F5).
 * @param signal ends the read and its statement.
 * @param noteCuts receives the history cuts and rollups that concern the read (R-F9).
 * @throws the same errors as `readPoints`.
 * @throws {DomainError} dependency_unavailable when an open write does not end in time.
 * @throws the errors of `source.borrow` and `streamInSnapshot`.
 * @throws the reason of `signal` when `signal` is aborted.
 */
export function streamPoints(
  source: SnapshotSource,
  selection: PointSelection,
  signal?: AbortSignal,
  noteCuts?: NoteCuts,
): AsyncGenerator<PointChunk> {
  return streamShape(source, selection, WHOLE, signal, noteCuts);
}

/**
 * Like `streamPoints`, but without VersionTimestamps and labels. The database needs about 60 % of the time that it
 * needs for `streamPoints`.
 * @throws the same errors as `streamPoints`.
 */
export function streamValues(
  source: SnapshotSource,
  selection: PointSelection,
  signal?: AbortSignal,
  noteCuts?: NoteCuts,
): AsyncGenerator<ValueChunk> {
  return streamShape(source, selection, VALUES, signal, noteCuts);
}

async function* streamShape<Chunk>(
  source: SnapshotSource,
  selection: PointSelection,
  shape: ReadShape<Chunk>,
  signal: AbortSignal | undefined,
  noteCuts: NoteCuts | undefined,
): AsyncGenerator<Chunk> {
  await awaitWritersOf(source, selection, signal);
  const read = (transaction: Transaction, opened: OpenedRows) => {
    noteCuts?.(...toNotice(opened));
    return needsLabels(selection)
      ? readShape(transaction, selection, shape)
      : readChosen(transaction, selection, NO_LABELS, shape);
  };
  yield* streamInSnapshot(source, read, signal, openingOf(selection));
}

/** @returns the number of points of all variables of a selection, ignoring its paging. */
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

/** @returns the SQL statement with which `readPoints` reads the points of `variableIds`. */
export function selectPoints(
  selection: PointSelection,
  variableIds: readonly number[],
  labels: ChosenLabels,
  columns = POINT_COLUMNS,
): string {
  const versions = selectVersions(selection, VARIABLE, labels, ALL_COLUMNS);
  // Sorts the versions inside the subquery `page`, because its limit and offset must apply to ordered rows.
  const page = `select * from (${versions}) version order by ${orderOf(selection)}${pagingClause(selection)}`;
  return selectOfVariables(variableIds, columns, page);
}

/**
 * Decodes the rows of `run`, which have the columns `POINT_COLUMNS`, into a chunk. Converts the values if `scale` is
 * given.
 * @throws {DomainError} invalid_input when a converted value exceeds the range of a double.
 */
export function toPointChunk(block: RowBlock, run: RowRun, scale: LinearScale | undefined): PointChunk {
  return {
    ...toValueChunk(block, run, scale),
    versionTimestamps: readInstants(block, run, VERSION_TIMESTAMP),
    versionTagIds: readIntegers(block, run, VERSION_TAG_ID),
    tagSetIds: readIntegers(block, run, TAG_SET_ID),
  };
}

function toValueChunk(block: RowBlock, run: RowRun, scale: LinearScale | undefined): ValueChunk {
  const { variableId } = run;
  const chunk = { variableId, dates: readInstants(block, run, DATE), values: readDoubles(block, run, VALUE) };
  if (scale) scaleValues(chunk, scale);
  return chunk;
}
