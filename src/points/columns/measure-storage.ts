/**
 * Measures the number and disk space of stored points, by table, by form (rows, or the compressed columns of
 * TimescaleDB's Community edition) and by account. `admin storage`, the metrics and `GET /admin/operate` report these
 * figures.
 */
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { type Chunk, findChunks, type PointTable } from '../write/find-chunks.ts';
import { findColumnsTable } from './find-columns-table.ts';

export interface StoredPoints {
  readonly table: PointTable;
  readonly form: 'rows' | 'columns';
  /** Null for points whose variable is deleted. These points are not purged yet. */
  readonly accountId: number | null;
  /**
   * Number of points. If a chunk has more than a million uncompressed rows by PostgreSQL's estimate, the number of rows
   * is estimated from a sample.
   */
  readonly points: number;
  /**
   * Size on disk, including indexes. The bytes of each form of a chunk are divided among accounts in proportion to
   * their points in this form.
   */
  readonly bytes: number;
}

/**
 * In a chunk with more rows than this by PostgreSQL's estimate, the rows are not counted: their number is estimated
 * from a sample.
 */
const MAX_COUNTED = 1_000_000;
const CHUNK_TIMEOUT_MS = 60_000;

/** Measures each chunk in its own transaction. @returns a total per table, form and account, sorted by these three. */
export async function measureStorage(database: Database): Promise<readonly StoredPoints[]> {
  const chunks = await withTransaction(database, (transaction) => findChunks(transaction));
  const totals = new Map<string, { -readonly [Key in keyof StoredPoints]: StoredPoints[Key] }>();
  for (const chunk of chunks) {
    const parts = await withTransaction(database, (transaction) => measureChunk(transaction, chunk), {
      readOnly: true,
      statementTimeoutMs: CHUNK_TIMEOUT_MS,
    });
    for (const part of parts) {
      const key = [part.table, part.form, part.accountId].join();
      const total = totals.get(key);
      if (total) {
        total.points += part.points;
        total.bytes += part.bytes;
      } else totals.set(key, { ...part });
    }
  }
  const order = (part: StoredPoints) => `${part.table} ${part.form === 'rows' ? 0 : 1} ${part.accountId ?? 0}`;
  return [...totals.values()].sort((a, b) => order(a).localeCompare(order(b), 'en', { numeric: true }));
}

async function measureChunk(transaction: Transaction, chunk: Chunk): Promise<readonly StoredPoints[]> {
  // With transparent decompression, scanning the uncompressed rows of a chunk would also read its compressed columns.
  if (chunk.isCompressible) await transaction.query(`set local timescaledb.enable_transparent_decompression = off`);
  const { rows } = await transaction.query<{ percent: number }>(
    `select least(100, 100 * $2::float8 / greatest(reltuples, 1)) as percent from pg_class where oid = $1::regclass`,
    [chunk.name, MAX_COUNTED],
  );
  const percent = rows[0]?.percent ?? 100;
  const inRows = `select variable_id, count(*) * ${100 / percent} as points from ${chunk.name}
    ${percent < 100 ? `tablesample system (${percent})` : ''} group by variable_id`;
  const parts = await measurePart(transaction, chunk, 'rows', [chunk.name], inRows);
  if (!chunk.isCompressed) return parts;
  const name = await findColumnsTable(transaction, chunk.name);
  if (name === undefined) return parts;
  const inColumns = `select variable_id, sum(_ts_meta_count) as points from ${name} group by variable_id`;
  // When every row of a chunk is compressed, the chunk's row table holds no points. The disk space of this table and of
  // its indexes is then added to that of the compressed columns.
  const names = parts.length === 0 ? [name, chunk.name] : [name];
  return [...parts, ...(await measurePart(transaction, chunk, 'columns', names, inColumns))];
}

async function measurePart(
  transaction: Transaction,
  { table }: Chunk,
  form: StoredPoints['form'],
  names: readonly string[],
  counted: string,
): Promise<readonly StoredPoints[]> {
  const { rows } = await transaction.query<Pick<StoredPoints, 'accountId' | 'points' | 'bytes'>>(
    `select account_id as "accountId", sum(points)::float8 as points,
            (select sum(pg_total_relation_size(name::regclass)) from unnest($1::text[]) name)::float8
              * (sum(points) / sum(sum(points)) over ())::float8 as bytes
     from (${counted}) counted left join variable on variable.id = variable_id group by account_id`,
    [names],
  );
  return rows.map((row) => ({ table, form, ...row }));
}
