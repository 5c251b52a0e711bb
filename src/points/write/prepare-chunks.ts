/**
 * Creates the chunks of a write in advance, on a separate connection. TimescaleDB locks the whole hypertable from the
 * creation of a chunk until the commit. So a write that creates a chunk itself can delay other writers until its
 * commit.
 */
import pg from 'pg';
import type { Transaction } from '../../platform/database/database.ts';
import type { Micros } from '../point.ts';
import { CHUNK_MICROS, chunkOf, lengthOf, type Span, spanOf, spanOfAll } from './chunk-rules.ts';
import { findChunks, type PointTable } from './find-chunks.ts';

const CONNECTION_TIMEOUT_MS = 2000;
const LOCK_TIMEOUT_MS = 2000;

// Sets the length of new chunks. For a long chunk, runs before the insert, and again after the insert to set the length
// of short chunks. The insert and both changes are in one transaction, so other sessions never see the changed length.
const SET_LENGTH = `select set_chunk_time_interval($1::regclass, $2::int8 * interval '1 microsecond')`;

// Inserts a row of variable 0, which does not exist, so that TimescaleDB creates the chunk; the chunk remains after the
// row is deleted.
const insertInto = (table: string) => `
  insert into ${table} (date, value, version_timestamp, variable_id, version_tag_id, tag_set_id)
  select timestamptz 'epoch' + $1::int8 * interval '1 microsecond', 0, 'epoch', 0, 0, 0 on conflict do nothing`;
const deleteFrom = (table: string) => `
  delete from ${table} where variable_id = 0 and date = timestamptz 'epoch' + $1::int8 * interval '1 microsecond'`;

/** Keys (database, hypertable and number) of chunks that are known to exist. */
const seenChunks = new Set<string>();

/**
 * Creates the missing chunks, also in gaps between existing chunks of other lengths. A failure is ignored, because the
 * write itself can create the chunks.
 *
 * @param transaction finds the existing chunks. Chunks are created on another connection.
 * @param chunkNumbers numbers that `chunkOf` returned.
 */
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

/**
 * Finds the parts of the wanted chunks that no existing chunk covers. Such a part is a whole wanted chunk, or a gap
 * next to an existing chunk of another length.
 * @param chunkNumbers numbers of the wanted chunks.
 * @returns the first date of each of these parts.
 */
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
  await withSideConnection(transaction, async (client) => {
    for (const dateMicros of missing) await makeChunk(client, table, dateMicros);
  });
  return true;
}

/** Runs `work` on a new connection to the database of `transaction`, so that `work` can commit before `transaction`. */
export async function withSideConnection(
  transaction: Transaction,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({
    ...identityOf(transaction),
    application_name: 'tidemark-chunks',
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    options: `-c timezone=UTC -c lock_timeout=${LOCK_TIMEOUT_MS}`,
  });
  client.on('error', () => {});
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** Creates the chunk of a date. TimescaleDB shortens the chunk to fit between existing chunks. */
async function makeChunk(client: pg.Client, table: PointTable, dateMicros: Micros): Promise<void> {
  const lengthMicros = lengthOf(chunkOf(dateMicros));
  const isLong = lengthMicros !== CHUNK_MICROS;
  await client.query('begin');
  if (isLong) {
    // Until the commit, this lock keeps other sessions from creating a chunk of the table, because TimescaleDB takes
    // the same lock when it creates a chunk.
    await client.query(`lock table ${table} in share update exclusive mode`);
    await client.query(SET_LENGTH, [table, lengthMicros]);
  }
  await client.query(insertInto(table), [dateMicros]);
  await client.query(deleteFrom(table), [dateMicros]);
  if (isLong) await client.query(SET_LENGTH, [table, CHUNK_MICROS]);
  await client.query('commit');
}

/** Returns the connection settings of the database of a transaction. */
function identityOf(transaction: Transaction) {
  const { host, port, database, user, password, ssl } = transaction as unknown as pg.Client;
  return { host, port, database, user, password, ssl };
}
