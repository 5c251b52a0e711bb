/**
 * Streams a listing of any length with bounded memory, from one snapshot. Reads the keys and sizes first, then the rows
 * in batches of limited size: one row can take a megabyte. The streamed answers of an account take turns to read a
 * batch (R-A14).
 */
import type { Context } from 'hono';
import { type Queryable, type SnapshotSource, streamInSnapshot, type Transaction } from '../database/database.ts';
import type { ReadPool } from '../database/read-pool.ts';
import { type Paging, WHOLE } from '../http/paging.ts';
import { openFairSemaphore } from '../shares/fair-semaphore.ts';
import { type StreamServices, streamAnswer } from './stream-answer.ts';

/** How to read a listing: a query for its keys, and a function that reads the items of some keys. */
export interface Listing<Key extends string | number, Item extends object = object> {
  /**
   * Selects `key` and `bytes` (the estimated size of the item's JSON, which may be larger), in the order of the listing,
   * without paging.
   */
  readonly keys: string;
  /** Parameters of `keys`. */
  readonly values: readonly unknown[];
  /** Reads the items with these keys, in the order of the listing. */
  readonly read: (queryable: Queryable, keys: readonly Key[]) => Promise<readonly Item[]>;
}

export interface ListingServices extends StreamServices {
  readonly database: Queryable;
  readonly reads: ReadPool;
}

/** A page of at most this many rows is sent whole, without a snapshot, when the rows form one batch (`splitKeys`). */
const SHORT_ROWS = 100;
const KEYS_PER_FETCH = 1000;
const MAX_BATCH_ROWS = 200;
const MAX_BATCH_BYTES = 1 << 20;

/**
 * One permit per account, held while a batch is read. A listing whose client stalls holds no permit. The number of
 * listings that an account has at a time is limited by the account's share of the connections.
 */
const turns = openFairSemaphore({
  resource: 'listings that are read at the same time',
  permits: Number.POSITIVE_INFINITY,
  permitsPerAccount: 1,
  waitersPerAccount: Number.POSITIVE_INFINITY,
  maxWaitMs: 60_000,
});

/**
 * Yields the items in batches of at most 200 items and about 1 MiB. An item larger than 1 MiB is a batch by itself.
 * @param transaction a snapshot; its connection is busy until the iteration ends.
 */
export async function* readBatches<Key extends string | number, Item extends object>(
  transaction: Transaction,
  { keys, values, read }: Listing<Key, Item>,
  { limit, offset }: Paging,
): AsyncGenerator<readonly Item[]> {
  const page = `limit $${values.length + 1} offset $${values.length + 2}`;
  await transaction.query(`declare listing no scroll cursor for ${keys} ${page}`, [...values, limit ?? null, offset]);
  for (;;) {
    const { rows } = await transaction.query<KeyRow<Key>>(`fetch ${KEYS_PER_FETCH} from listing`);
    for (const batch of splitKeys(rows)) yield await read(transaction, batch);
    if (rows.length < KEYS_PER_FETCH) break;
  }
  // Closes the cursor, because another listing may be read in the same transaction.
  await transaction.query('close listing');
}

interface KeyRow<Key> {
  readonly key: Key;
  readonly bytes: number;
}

function* splitKeys<Key>(rows: readonly KeyRow<Key>[]): Generator<readonly Key[]> {
  let batch: Key[] = [];
  let batchBytes = 0;
  for (const { key, bytes } of rows) {
    if (batch.length > 0 && (batch.length === MAX_BATCH_ROWS || batchBytes + bytes > MAX_BATCH_BYTES)) {
      yield batch;
      batch = [];
      batchBytes = 0;
    }
    batch.push(key);
    batchBytes += bytes;
  }
  if (batch.length > 0) yield batch;
}

/**
 * Answers with a page of a listing as a JSON array. A short page is sent whole; any other page is streamed.
 * @param wrap texts before and after the array. Default: none.
 * @throws the error of a query that fails before the answer begins.
 */
export async function answerListing<Key extends string | number>(
  c: Context,
  services: ListingServices,
  accountId: number,
  listing: Listing<Key>,
  paging: Paging,
  wrap: readonly [before: string, after: string] = ['', ''],
): Promise<Response> {
  const short = await readShort(services.database, listing, paging);
  if (short) {
    c.header('Content-Type', 'application/json');
    return c.body(`${wrap[0]}${JSON.stringify(short)}${wrap[1]}`);
  }
  const source = services.reads.of(accountId);
  const write = (signal: AbortSignal) => writeJson({ source, accountId, listing, paging, wrap }, signal);
  return streamAnswer(c, { 'Content-Type': 'application/json' }, write, services);
}

/** @returns the items of a page that can be sent whole (`SHORT_ROWS`); undefined for any other page. */
async function readShort<Key extends string | number>(
  queryable: Queryable,
  { keys, values, read }: Listing<Key>,
  { limit = SHORT_ROWS + 1, offset }: Paging,
): Promise<readonly object[] | undefined> {
  const page = `limit $${values.length + 1} offset $${values.length + 2}`;
  const { rows } = await queryable.query<KeyRow<Key>>(`${keys} ${page}`, [
    ...values,
    Math.min(limit, SHORT_ROWS + 1),
    offset,
  ]);
  const [batch = [], ...others] = splitKeys(rows);
  if (rows.length > SHORT_ROWS || others.length > 0) return undefined;
  return batch.length === 0 ? [] : read(queryable, batch);
}

/**
 * Counts the items of a listing by reading all of them, because `read` can leave items out.
 * @param signal stops the count, for example when the client disconnects.
 */
export async function countByReading<Key extends string | number>(
  { reads }: ListingServices,
  accountId: number,
  listing: Listing<Key>,
  signal: AbortSignal,
): Promise<number> {
  const order = { accountId, listing, paging: WHOLE };
  const read = (transaction: Transaction) => readInTurns(transaction, order, signal, ({ length }) => ({ length }));
  let count = 0;
  for await (const { length } of streamInSnapshot(reads.of(accountId), read, signal)) count += length;
  return count;
}

interface ListingOrder<Key extends string | number> {
  readonly accountId: number;
  readonly listing: Listing<Key>;
  readonly paging: Paging;
}

interface StreamedListing<Key extends string | number> extends ListingOrder<Key> {
  readonly source: SnapshotSource;
  readonly wrap: readonly [before: string, after: string];
}

/** Reads and converts each batch of the listing while it holds the account's permit (`turns`). */
async function* readInTurns<Key extends string | number, Converted>(
  transaction: Transaction,
  { accountId, listing, paging }: ListingOrder<Key>,
  signal: AbortSignal,
  convert: (items: readonly object[]) => Converted,
): AsyncGenerator<Converted> {
  const batches = readBatches(transaction, listing, paging);
  const readNext = async () => {
    const leave = await turns.enter(accountId, signal);
    try {
      const { value } = await batches.next();
      return value && convert(value);
    } finally {
      leave();
    }
  };
  for (let batch = await readNext(); batch; batch = await readNext()) yield batch;
}

async function* writeJson<Key extends string | number>(
  { source, wrap: [before, after], ...order }: StreamedListing<Key>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  // Encodes the items here and not in the consumer. The batches that are read ahead are then JSON, so their size is
  // known and can be limited.
  const toJson = (items: readonly object[]) => ({
    json: Buffer.from(items.map((item) => JSON.stringify(item)).join()),
  });
  const encode = (transaction: Transaction) => readInTurns(transaction, order, signal, toJson);
  let start = `${before}[`;
  for await (const { json } of streamInSnapshot(source, encode, signal)) {
    yield Buffer.concat([Buffer.from(start), json]);
    start = ',';
  }
  yield Buffer.from(`${start === ',' ? '' : start}]${after}`);
}
