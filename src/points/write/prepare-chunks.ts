/**
 * Makes chunks that a write needs, before it writes and outside of its transaction. TimescaleDB holds a lock on the whole
 * hypertable from the making of a chunk to the end of the transaction: two writers of different variables that both need
 * a new chunk, even different ones, would wait for each other's commit. Made here, they wait for milliseconds.
 *
 * Nothing depends on it: a chunk that could not be made is made by the write itself.
 */
import pg from 'pg';
import type { Transaction } from '../../platform/database/database.ts';
import type { Micros } from '../point.ts';
import { CHUNK_MICROS, chunkOf, lengthOf, type Span, spanOf, spanOfAll } from './chunk-rules.ts';
import { findChunks, type PointTable } from './find-chunks.ts';

const CONNECTION_TIMEOUT_MS = 2000;
const LOCK_TIMEOUT_MS = 2000;

// In one transaction with the insert, so that others never see it.
const SET_LENGTH = `select set_chunk_time_interval($1::regclass, $2::int8 * interval '1 microsecond')`;

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
  table: PointTable,
  chunkNumbers: Iterable<number>,
): Promise<void> {
  const { host, port, database } = identityOf(transaction);
  const nameOf = (chunk: number) => `${host}:${port}/${database} ${table} ${chunk}`;
  const unseen = [...chunkNumbers].filter((chunk) => !seenChunks.has(nameOf(chunk)));
  if (unseen.length === 0) return;
  const missing = await findMissing(transaction, table, unseen);
  if (missing.length > 0) {
    const isMade = await makeChunks(transaction, table, missing).catch(() => false);
    if (!isMade) return;
  }
  for (const chunk of unseen) seenChunks.add(nameOf(chunk));
}

/** First dates of what is not there of some chunks: of all of a chunk, or of gaps between chunks of other lengths. */
async function findMissing(
  transaction: Transaction,
  table: PointTable,
  chunkNumbers: readonly number[],
): Promise<readonly Micros[]> {
  const stored = (await findChunks(transaction, spanOfAll(chunkNumbers))).filter((chunk) => chunk.table === table);
  return chunkNumbers.flatMap((number) => findGaps(spanOf(number), stored));
}

function findGaps({ fromMicros, toMicros }: Span, stored: readonly Span[]): readonly Micros[] {
  const gaps: Micros[] = [];
  let doneMicros = fromMicros;
  for (const chunk of stored.filter((one) => one.toMicros > fromMicros && one.fromMicros < toMicros)) {
    if (chunk.fromMicros > doneMicros) gaps.push(doneMicros);
    doneMicros = chunk.toMicros;
  }
  return doneMicros < toMicros ? [...gaps, doneMicros] : gaps;
}

async function makeChunks(transaction: Transaction, table: PointTable, missing: readonly Micros[]): Promise<boolean> {
  const client = new pg.Client({
    ...identityOf(transaction),
    application_name: 'tidemark-chunks',
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    options: `-c timezone=UTC -c lock_timeout=${LOCK_TIMEOUT_MS}`,
  });
  client.on('error', () => {});
  await client.connect();
  try {
    for (const dateMicros of missing) await makeChunk(client, table, dateMicros);
    return true;
  } finally {
    await client.end();
  }
}

/** Makes the chunk of a date. TimescaleDB fits it in between others that are there. */
async function makeChunk(client: pg.Client, table: PointTable, dateMicros: Micros): Promise<void> {
  const lengthMicros = lengthOf(chunkOf(dateMicros));
  const isLong = lengthMicros !== CHUNK_MICROS;
  await client.query('begin');
  if (isLong) {
    // Chunks are made one at a time anyway; here from before their length is looked up.
    await client.query(`lock table ${table} in share update exclusive mode`);
    await client.query(SET_LENGTH, [table, lengthMicros]);
  }
  await client.query(insertInto(table), [dateMicros]);
  await client.query(deleteFrom(table), [dateMicros]);
  if (isLong) await client.query(SET_LENGTH, [table, CHUNK_MICROS]);
  await client.query('commit');
}

/** Which database a connection speaks to, and as whom. */
function identityOf(transaction: Transaction) {
  const { host, port, database, user, password, ssl } = transaction as unknown as pg.Client;
  return { host, port, database, user, password, ssl };
}
