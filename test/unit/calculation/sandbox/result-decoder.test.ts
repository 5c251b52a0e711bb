/** Results above a megabyte are decoded in a worker thread, so that they do not block the event loop (R-H7). */
import { afterAll, describe, expect, test } from 'vitest';
import { planOutput } from '../../../../src/calculation/run/output-rules.ts';
import type { ResultFrame } from '../../../../src/calculation/sandbox/frame.ts';
import { openResultDecoder } from '../../../../src/calculation/sandbox/results/result-decoder.ts';
import { AnswerReader } from '../../../../src/calculation/sandbox/wire.ts';
import { measureTurns } from '../../../support/measure-turns.ts';

const LIMITS = { maxPoints: 5_000_000, maxTextBytes: 65_536 };
const MAGIC = 0x32524d54;
const int = (...values: number[]) => Buffer.from(Int32Array.from(values).buffer);
const NO_NOTES = int(0, 0, 0);

const decoder = openResultDecoder();
afterAll(() => decoder.close());

/** Receives a frame in pieces of 64 KiB, as if the sandbox had sent it. @returns the bytes of the result. */
function receive(frame: Buffer): readonly Buffer[] {
  const reader = new AnswerReader();
  for (let from = 0; from < frame.length; from += 65_536) {
    const piece = frame.subarray(from, from + 65_536);
    reader.take(int(1, piece.length));
    reader.take(piece);
  }
  return reader.answer().result;
}

/**
 * @returns the decoded result, and the longest time for which the event loop was blocked during the decoding, in
 * milliseconds of processor time.
 */
async function decodeTimed(frame: Buffer) {
  const parts = receive(frame);
  const { result: decoded, maxTurnMs } = await measureTurns(() => decoder.decode(parts, LIMITS));
  return { decoded, maxTurnMs };
}

/** @returns a frame of `rows` points whose tags differ from row to row. */
function frameOfTags(rows: number): Buffer {
  const tags = Array.from({ length: rows }, (_, row) => `{"n":"${row}"}`);
  const dates = Float64Array.from({ length: rows }, (_, row) => row);
  const codes = Int32Array.from({ length: rows }, (_, row) => row);
  return Buffer.concat([
    ...[int(MAGIC, 0), NO_NOTES, int(rows), Buffer.from(dates.buffer), int(rows), Buffer.from(dates.buffer), int(-1)],
    ...[int(rows, rows, ...tags.map(({ length }) => length)), Buffer.from(tags.join('')), Buffer.from(codes.buffer)],
    int(0),
  ]);
}

describe('result decoder', () => {
  test('a large result keeps its columns and texts (R-H3)', async () => {
    const { decoded } = await decodeTimed(frameOfTags(100_000));
    const { series } = decoded as Extract<ResultFrame, { status: 'ok' }>;
    const rows = Array.from({ length: 100_000 }, (_, row) => row);
    expect([series.dates, series.values]).toEqual([Float64Array.from(rows), Float64Array.from(rows)]);
    expect(series.tags?.codes).toEqual(Int32Array.from(rows));
    expect(rows.map((row) => series.tags?.texts.at(row))).toEqual(rows.map((row) => `{"n":"${row}"}`));
    const plan = planOutput(series, { isVersioned: true, defaultVersion: 'v' });
    const [slice] = plan.kind === 'ok' ? plan.output.slices() : [];
    expect(slice?.at(-1)).toMatchObject({ value: 19_999, labels: { tags: '{"n":"19999","version":"v"}' } });
  });

  test('decoding a forged frame of 15 million empty messages blocks the event loop for less than 500 ms (R-H7)', async () => {
    const count = 15_000_000;
    const rest = int(0, 0, 0, 0, -1, -1, 0);
    const { decoded, maxTurnMs } = await decodeTimed(
      Buffer.concat([int(MAGIC, 0, count), Buffer.alloc(count * 4), rest]),
    );
    expect(decoded?.messages).toHaveLength(65_536);
    // When run alone, this test blocks the event loop for 15 ms; without the worker thread, 1.6 s.
    expect(maxTurnMs).toBeLessThan(500);
  });

  test('a forged table of 15 million texts is refused, and blocks the event loop for less than 500 ms (R-H7)', async () => {
    const count = 15_000_000;
    const columns = Buffer.concat([int(MAGIC, 0), NO_NOTES, int(0, 0), int(-1), int(1, count)]);
    const { decoded, maxTurnMs } = await decodeTimed(Buffer.concat([columns, Buffer.alloc(count * 4)]));
    expect(decoded).toBeNull();
    expect(maxTurnMs).toBeLessThan(500);
  });

  test('a result of 3 MiB that is not a frame is decoded as null, and the next large result is decoded normally (R-H7)', async () => {
    expect((await decodeTimed(Buffer.alloc(3 << 20, 7))).decoded).toBeNull();
    expect((await decodeTimed(frameOfTags(60_000))).decoded).toMatchObject({ status: 'ok' });
  });
});
