/** Reads large binary columns by COPY BINARY, because `pg` receives binary columns of a SELECT as hexadecimal text. */
import { buffer } from 'node:stream/consumers';
import { to as copyTo } from 'pg-copy-streams';
import type { Transaction } from './database.ts';

const HEADER_BYTES = 19;
const COLUMN_COUNT_BYTES = 2;
const LENGTH_BYTES = 4;
/** Column count that marks the end of COPY data. */
const END = -1;

/**
 * Reads the values of one `bytea` column.
 * @param query selects exactly one column without nulls. COPY takes no parameters, so the caller must check every value
 * that the query contains.
 * @returns the values in the order of the query.
 */
export async function readBytea(transaction: Transaction, query: string): Promise<readonly Buffer[]> {
  const data = await buffer(transaction.query(copyTo(`copy (${query}) to stdout (format binary)`)));
  const values: Buffer[] = [];
  let offset = HEADER_BYTES;
  while (data.readInt16BE(offset) !== END) {
    offset += COLUMN_COUNT_BYTES;
    const length = data.readInt32BE(offset);
    offset += LENGTH_BYTES;
    values.push(data.subarray(offset, offset + length));
    offset += length;
  }
  return values;
}
