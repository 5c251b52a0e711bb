/**
 * The one reader of points, for REST, gRPC and the inputs of calculations. It walks the variables in the order asked
 * for and streams each as chunks of columns in one snapshot: memory does not grow with the answer.
 */
import { type Database, streamInSnapshot, type Transaction } from '../platform/database.ts';
import { fetchRows } from './fetch-rows.ts';
import type { PointChunk, PointSelection } from './point.ts';
import { findVersionTagIds, orderClause, pagingClause, selectVersions } from './select-versions.ts';

type Row = [dateMicros: number, value: number, versionTimestampMicros: number, versionTagId: number, tagSetId: number];

const COLUMNS = `(extract(epoch from date) * 1000000)::int8, value,
  (extract(epoch from version_timestamp) * 1000000)::int8, version_tag_id, tag_set_id`;

/**
 * Streams the points of a selection, variable by variable.
 * @param transaction a read-only, repeatable-read transaction of the caller: one snapshot for all variables.
 * @returns chunks of at most `CHUNK_ROWS` points by date, the versions of one date by VersionTimestamp; none for a
 *   variable without points.
 */
export async function* readPoints(transaction: Transaction, selection: PointSelection): AsyncGenerator<PointChunk> {
  const versionTagIds = await findVersionTagIds(transaction, selection);
  for (const variableId of selection.variableIds) {
    const wanted = selectVersions(selection, variableId, versionTagIds);
    const statement = `select ${COLUMNS} from (${wanted}) wanted ${orderClause(selection)}${pagingClause(selection)}`;
    for await (const rows of fetchRows<Row>(transaction, statement)) yield toChunk(variableId, rows);
  }
}

/** As `readPoints`, in a snapshot of its own. */
export function streamPoints(
  database: Database,
  selection: PointSelection,
  signal?: AbortSignal,
): AsyncGenerator<PointChunk> {
  return streamInSnapshot(database, (transaction) => readPoints(transaction, selection), signal);
}

/** Counts the points a selection without paging would give, over all its variables. */
export async function countPoints(transaction: Transaction, selection: PointSelection): Promise<number> {
  const versionTagIds = await findVersionTagIds(transaction, selection);
  let count = 0;
  for (const variableId of selection.variableIds) {
    const wanted = selectVersions(selection, variableId, versionTagIds);
    const { rows } = await transaction.query<{ count: number }>(`select count(*) as count from (${wanted}) wanted`);
    count += rows[0]?.count ?? 0;
  }
  return count;
}

function toChunk(variableId: number, rows: readonly Row[]): PointChunk {
  return {
    variableId,
    dates: Float64Array.from(rows, (row) => row[0]),
    values: Float64Array.from(rows, (row) => row[1]),
    versionTimestamps: Float64Array.from(rows, (row) => row[2]),
    versionTagIds: Int32Array.from(rows, (row) => row[3]),
    tagSetIds: Int32Array.from(rows, (row) => row[4]),
  };
}
