/**
 * The one reader of points, for REST, gRPC and the inputs of calculations. It walks the variables in the order asked
 * for and streams each as chunks of columns in one snapshot: memory does not grow with the answer.
 */
import type { Database, Queryable, Transaction } from '../platform/database.ts';
import { type Dictionary, NO_ID } from './dictionary.ts';
import type { PointChunk, PointSelection, VersionChoice } from './point.ts';

/** Points a chunk holds at most. */
export const CHUNK_POINTS = 10_000;

const CURSOR = 'point_cursor';
const FETCH = `fetch ${CHUNK_POINTS} from ${CURSOR}`;

type Row = [dateMicros: number, value: number, versionTimestampMicros: number, versionTagId: number, tagSetId: number];

const COLUMNS = `(extract(epoch from date) * 1000000)::int8, value,
  (extract(epoch from version_timestamp) * 1000000)::int8, version_tag_id, tag_set_id`;

/**
 * Streams the points of a selection, variable by variable.
 * @param transaction a read-only, repeatable-read transaction of the caller: one snapshot for all variables.
 * @returns chunks of at most `CHUNK_POINTS` points in date order; none for a variable without points.
 */
export async function* readPoints(
  transaction: Transaction,
  dictionary: Dictionary,
  selection: PointSelection,
): AsyncGenerator<PointChunk> {
  const versionTagIds = await findVersionTagIds(transaction, selection.version);
  for (const variableId of selection.variableIds) {
    yield* readVariable(transaction, dictionary, selection, variableId, versionTagIds);
  }
}

/**
 * As `readPoints`, in a snapshot of its own that lasts as long as the iteration. A reader that stops early gives the
 * connection back at once.
 */
export async function* streamPoints(
  database: Database,
  dictionary: Dictionary,
  selection: PointSelection,
): AsyncGenerator<PointChunk> {
  const connection = await database.connect();
  let isBroken = false;
  try {
    await connection.query('begin isolation level repeatable read read only');
    yield* readPoints(connection, dictionary, selection);
  } finally {
    await connection.query('rollback').catch(() => {
      isBroken = true;
    });
    connection.release(isBroken);
  }
}

/** Counts the points a selection without paging would give, over all its variables. */
export async function countPoints(transaction: Transaction, selection: PointSelection): Promise<number> {
  const versionTagIds = await findVersionTagIds(transaction, selection.version);
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
  const { text, values } = selectPage(selection, variableId, versionTagIds);
  await transaction.query(`declare ${CURSOR} no scroll cursor for ${text}`, values);
  try {
    for (;;) {
      const { rows } = await transaction.query<Row>({ text: FETCH, rowMode: 'array' });
      if (rows.length > 0) yield await toChunk(transaction, dictionary, variableId, rows);
      if (rows.length < CHUNK_POINTS) return;
    }
  } finally {
    // After an error the transaction is over and the cursor with it.
    await transaction.query(`close ${CURSOR}`).catch(() => {});
  }
}

interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

function selectPage(
  selection: PointSelection,
  variableId: number,
  versionTagIds: readonly number[] | undefined,
): Statement {
  const { text, values } = selectVersions(selection, variableId, versionTagIds);
  const order = selection.order === 'DESC' ? 'desc' : 'asc';
  const paging = [
    selection.limit === undefined ? '' : ` limit $${values.push(selection.limit)}`,
    selection.offset ? ` offset $${values.push(selection.offset)}` : '',
  ];
  return { text: `select ${COLUMNS} from (${text}) wanted order by date ${order}${paging.join('')}`, values };
}

/** Rows of `point`'s columns, one per date: the latest, or the version chosen (R-F5, R-G2). */
function selectVersions(
  { version, ...selection }: PointSelection,
  variableId: number,
  versionTagIds: readonly number[] | undefined,
): Statement {
  const values: unknown[] = [variableId];
  const instant = (micros: number): string =>
    `to_timestamp(0) + $${values.push(micros)}::int8 * interval '1 microsecond'`;
  const conditions = ['variable_id = $1'];
  if (selection.fromMicros !== undefined) conditions.push(`date >= ${instant(selection.fromMicros)}`);
  if (selection.toMicros !== undefined) {
    conditions.push(`date ${selection.isToIncluded ? '<=' : '<'} ${instant(selection.toMicros)}`);
  }
  if (version.asOfMicros !== undefined) conditions.push(`version_timestamp <= ${instant(version.asOfMicros)}`);
  if (versionTagIds !== undefined) conditions.push(`version_tag_id = any($${values.push(versionTagIds)}::int[])`);
  const where = conditions.join(' and ');
  const isLatest = version.asOfMicros === undefined && versionTagIds === undefined;
  if (isLatest) return { text: `select * from point where ${where}`, values };
  const every = `select * from point where ${where} union all select * from point_version where ${where}`;
  return { text: `select distinct on (date) * from (${every}) version order by date, version_timestamp desc`, values };
}

async function findVersionTagIds(
  queryable: Queryable,
  { versionTags }: VersionChoice,
): Promise<readonly number[] | undefined> {
  if (versionTags === undefined) return undefined;
  // Rows hold only tags of their own account, so the same text of another account matches nothing.
  const { rows } = await queryable.query<{ id: number }>('select id from version_tag where tag = any($1::text[])', [
    versionTags,
  ]);
  return rows.map(({ id }) => id);
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
