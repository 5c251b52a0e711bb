/**
 * The one reader of points, for REST, gRPC and the inputs of calculations. It walks the variables in the order asked
 * for and streams each as chunks of columns in one snapshot: memory does not grow with the answer.
 */
import { type Database, type Queryable, streamInSnapshot, type Transaction } from '../platform/database.ts';
import { type Dictionary, NO_ID } from './dictionary.ts';
import { fetchRows } from './fetch-rows.ts';
import type { PointChunk, PointSelection } from './point.ts';
import { findVersionTagIds, pagingClause, type Statement, selectVersions } from './select-versions.ts';

type Row = [dateMicros: number, value: number, versionTimestampMicros: number, versionTagId: number, tagSetId: number];

const COLUMNS = `(extract(epoch from date) * 1000000)::int8, value,
  (extract(epoch from version_timestamp) * 1000000)::int8, version_tag_id, tag_set_id`;

/**
 * Streams the points of a selection, variable by variable.
 * @param transaction a read-only, repeatable-read transaction of the caller: one snapshot for all variables.
 * @returns chunks of at most `CHUNK_ROWS` points in date order; none for a variable without points.
 */
export async function* readPoints(
  transaction: Transaction,
  dictionary: Dictionary,
  selection: PointSelection,
): AsyncGenerator<PointChunk> {
  const versionTagIds = await findVersionTagIds(transaction, selection);
  for (const variableId of selection.variableIds) {
    yield* readVariable(transaction, dictionary, selection, variableId, versionTagIds);
  }
}

/** As `readPoints`, in a snapshot of its own. */
export function streamPoints(
  database: Database,
  dictionary: Dictionary,
  selection: PointSelection,
): AsyncGenerator<PointChunk> {
  return streamInSnapshot(database, (transaction) => readPoints(transaction, dictionary, selection));
}

/** Counts the points a selection without paging would give, over all its variables. */
export async function countPoints(transaction: Transaction, selection: PointSelection): Promise<number> {
  const versionTagIds = await findVersionTagIds(transaction, selection);
  let count = 0;
  for (const variableId of selection.variableIds) {
    const { text, values } = selectVersions(selection, variableId, versionTagIds);
    const { rows } = await transaction.query<{ count: number }>(
      `select count(*) as count from (${text}) wanted`,
      values,
    );
    count += rows[0]?.count ?? 0;
  }
  return count;
}

async function* readVariable(
  transaction: Transaction,
  dictionary: Dictionary,
  selection: PointSelection,
  variableId: number,
  versionTagIds: readonly number[] | undefined,
): AsyncGenerator<PointChunk> {
  const statement = selectPage(selection, variableId, versionTagIds);
  for await (const rows of fetchRows<Row>(transaction, statement)) {
    yield await toChunk(transaction, dictionary, variableId, rows);
  }
}

function selectPage(
  selection: PointSelection,
  variableId: number,
  versionTagIds: readonly number[] | undefined,
): Statement {
  const { text, values } = selectVersions(selection, variableId, versionTagIds);
  const order = selection.order === 'DESC' ? 'desc' : 'asc';
  const paging = pagingClause(selection, values);
  return { text: `select ${COLUMNS} from (${text}) wanted order by date ${order}${paging}`, values };
}

async function toChunk(
  queryable: Queryable,
  dictionary: Dictionary,
  variableId: number,
  rows: readonly Row[],
): Promise<PointChunk> {
  const versionTags = await dictionary.versionTagTexts(
    queryable,
    rows.map((row) => row[3]),
  );
  const tagSets = await dictionary.tagSetTexts(
    queryable,
    rows.map((row) => row[4]),
  );
  return {
    variableId,
    dates: Float64Array.from(rows, (row) => row[0]),
    values: Float64Array.from(rows, (row) => row[1]),
    versionTimestamps: Float64Array.from(rows, (row) => row[2]),
    versionTags: rows.map((row) => (row[3] === NO_ID ? null : (versionTags.get(row[3]) ?? null))),
    tags: rows.map((row) => (row[4] === NO_ID ? null : (tagSets.get(row[4]) ?? null))),
  };
}
