/** Compares the bytes of encoded points with the COPY BINARY format that PostgreSQL documents. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../../src/platform/dates/instant-rules.ts';
import {
  COPY_HEADER,
  COPY_TRAILER,
  eachTuple,
  encodeTuples,
  patchVersionTimestamps,
  TUPLE_BYTES,
} from '../../../src/points/copy-codec.ts';
import type { PointEntry } from '../../../src/points/point.ts';

const POSTGRES_EPOCH_MICROS = BigInt(Date.UTC(2000, 0, 1)) * 1000n;

const int = (value: number, bytes: 2 | 4) => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
};
const bigint = (value: bigint) => {
  const buffer = Buffer.alloc(8);
  buffer.writeBigInt64BE(value);
  return buffer;
};
const double = (value: number) => {
  const buffer = Buffer.alloc(8);
  buffer.writeDoubleBE(value);
  return buffer;
};
const instant = (micros: number) => bigint(BigInt(micros) - POSTGRES_EPOCH_MICROS);

/**
 * @returns the bytes of a tuple: the number of columns, then the columns date, value, version_timestamp, variable_id,
 * version_tag_id and tag_set_id. Each column is preceded by its length.
 */
function expectedTuple({ variableId, dateMicros, value, versionTagId, tagSetId }: PointEntry, stamp: Buffer): Buffer {
  const columns = [
    instant(dateMicros),
    double(value),
    stamp,
    ...[variableId, versionTagId, tagSetId].map((id) => int(id, 4)),
  ];
  return Buffer.concat([int(columns.length, 2), ...columns.flatMap((column) => [int(column.length, 4), column])]);
}

const anyMicros = fc.oneof(
  fc.integer({ min: MIN_DATE_MICROS, max: MAX_DATE_MICROS }),
  // Dates that are whole multiples of 2^32 µs away from PostgreSQL's epoch: the lower 32 bits of an encoded date are 0.
  fc
    .integer({ min: -1_900_000, max: 1_600_000 })
    .map((high) => Number(BigInt(high) * 2n ** 32n + POSTGRES_EPOCH_MICROS)),
  fc.constantFrom(
    MIN_DATE_MICROS,
    MAX_DATE_MICROS,
    Number(POSTGRES_EPOCH_MICROS),
    Number(POSTGRES_EPOCH_MICROS) - 1,
    0,
  ),
);
const anyId = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const anyEntry: fc.Arbitrary<PointEntry> = fc.record({
  variableId: anyId,
  dateMicros: anyMicros,
  value: fc.double({ noNaN: true }),
  versionTagId: anyId,
  tagSetId: anyId,
});

describe('points: the COPY codec', () => {
  test('frames a stream as COPY BINARY does: signature, flags, extension, and a trailer of -1', () => {
    expect(COPY_HEADER.toString('hex')).toBe(`${Buffer.from('PGCOPY\n').toString('hex')}ff0d0a00${'00'.repeat(8)}`);
    expect(COPY_TRAILER.readInt16BE(0)).toBe(-1);
    expect(COPY_TRAILER).toHaveLength(2);
  });

  test('writes the length of each column before the column, and 0 as the VersionTimestamp; `patchVersionTimestamps` replaces this 0', () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { minLength: 1, maxLength: 4 }), anyMicros, (entries, stamp) => {
        const tuples = encodeTuples(entries);
        const bytesWith = (bytes: Buffer) => Buffer.concat(entries.map((entry) => expectedTuple(entry, bytes)));
        expect(tuples.toString('hex')).toBe(bytesWith(Buffer.alloc(8)).toString('hex'));
        patchVersionTimestamps(tuples, stamp);
        expect(tuples.toString('hex')).toBe(bytesWith(instant(stamp)).toString('hex'));
      }),
      { numRuns: 500 },
    );
  });

  test('visits every tuple with its variable, date and byte offset', () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 4 }), (entries) => {
        const visited: unknown[] = [];
        eachTuple(encodeTuples(entries), (...tuple) => visited.push(tuple));
        expect(visited).toEqual(
          entries.map(({ variableId, dateMicros }, index) => [variableId, dateMicros, index * TUPLE_BYTES]),
        );
      }),
      { numRuns: 300 },
    );
  });
});
