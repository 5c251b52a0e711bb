/**
 * Makes chunks that a write needs, before it writes and outside of its transaction. TimescaleDB holds a lock on the whole
 * hypertable from the making of a chunk to the end of the transaction: two writers of different variables that both need
 * a new chunk, even different ones, would wait for each other's commit. Made here, they wait for milliseconds.
 *
 * Nothing depends on it: a chunk that could not be made is made by the write itself.
 */
import pg from 'pg';
import type { Transaction } from '../../platform/database.ts';
import { CHUNK_MICROS } from './chunk-rules.ts';

const CONNECTION_TIMEOUT_MS = 2000;
const LOCK_TIMEOUT_MS = 2000;

const FIND_MISSING = `
  select micros from unnest($2::int8[]) micros
  where not exists (
    select from timescaledb_information.chunks
    where hypertable_name = $1
      and range_start <= timestamptz 'epoch' + micros * interval '1 microsecond'
      and range_end > timestamptz 'epoch' + micros * interval '1 microsecond')`;

// There is no variable 0. Only an insert makes a chunk, and it stays when the row goes.
const insertInto = (table: string) => `
  insert into ${table} (date, value, version_timestamp, variable_id, version_tag_id, tag_set_id)
  select timestamptz 'epoch' + $1::int8 * interval '1 microsecond', 0, 'epoch', 0, 0, 0 on conflict do nothing`;
const deleteFrom = (table: string) => `
  delete from ${table} where variable_id = 0 and date = timestamptz 'epoch' + $1::int8 * interval '1 microsecond'`;

/** Chunks this process has seen, by database, hypertable and number. */
const seenChunks = new Set<string>();

/** @param chunkNumbers see `chunkOf`. */
export async function prepareChunks(
  transaction: Transaction,
  table: 'point' | 'point_version',
  chunkNumbers: Iterable<number>,
): Promise<void> {
  const { host, port, database } = identityOf(transaction);
  const nameOf = (chunk: number) => `${host}:${port}/${database} ${table} ${chunk}`;
  const unseen = [...chunkNumbers].filter((chunk) => !seenChunks.has(nameOf(chunk)));
  if (unseen.length === 0) return;
  const starts = unseen.map((chunk) => chunk * CHUNK_MICROS);
  const { rows: missing } = await transaction.query<{ micros: number }>(FIND_MISSING, [table, starts]);
  if (missing.length > 0) {
    const isMade = await makeChunks(transaction, table, missing).catch(() => false);
    if (!isMade) return;
  }
  for (const chunk of unseen) seenChunks.add(nameOf(chunk));
}

async function makeChunks(
  transaction: Transaction,
  table: string,
  missing: readonly { readonly micros: number }[],
): Promise<boolean> {
  const client = new pg.Client({
    ...identityOf(transaction),
    application_name: 'tidemark-chunks',
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    options: `-c timezone=UTC -c lock_timeout=${LOCK_TIMEOUT_MS}`,
  });
  client.on('error', () => {});
  await client.connect();
  try {
    for (const { micros } of missing) {
      await client.query('begin');
      await client.query(insertInto(table), [micros]);
      await client.query(deleteFrom(table), [micros]);
      await client.query('commit');
    }
    return true;
  } finally {
    await client.end();
  }
}

/** Which database a connection speaks to, and as whom. */
function identityOf(transaction: Transaction) {
  const { host, port, database, user, password, ssl } = transaction as unknown as pg.Client;
  return { host, port, database, user, password, ssl };
}
