/** Tests the encoding of the data between the calculator and R, and the outcome of a run (R-H2, R-H3, R-H7, R-H8). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeResult, encodeRequest, tryDecodeResult } from '../../../../src/calculation/sandbox/frame.ts';
import { decideOutcome } from '../../../../src/calculation/sandbox/outcome.ts';
import { FrameError } from '../../../../src/calculation/sandbox/results/frame-reader.ts';
import type { RunLimits, SandboxJob } from '../../../../src/calculation/sandbox/sandbox-types.ts';
import { AnswerReader, encodeRunHeader, type Trailer } from '../../../../src/calculation/sandbox/wire.ts';
import { inputOf, jobOf, regularSeries } from '../../../fixtures/scripts/harness.ts';

// These functions encode parts of result frames in the runner's format. The tests use them also for frames that no
// runner writes.
const int = (...values: number[]) => Buffer.from(Int32Array.from(values).buffer);
const doubles = (...values: number[]) => Buffer.from(Float64Array.from(values).buffer);
const texts = (...values: string[]) =>
  Buffer.concat([int(values.length, ...values.map((text) => Buffer.byteLength(text))), Buffer.from(values.join(''))]);
const MAGIC = 0x32524d54;

const okFrame = Buffer.concat([
  int(MAGIC, 0),
  texts('message'),
  texts('warning'),
  texts('minor é'),
  int(2),
  doubles(10, Number.NaN),
  int(1),
  doubles(1.5),
  int(3),
  texts('', 'v1'),
  int(0, 1, 0),
  int(-1),
  int(1),
  texts('plot.svg').subarray(4),
  int(3),
  Buffer.from('<s>'),
]);

const errorFrame = Buffer.concat([
  int(MAGIC, 1),
  texts(),
  texts(),
  int(2),
  Buffer.from('no'),
  int(3),
  Buffer.from('f()'),
  int(7),
  texts('first', 'second'),
  int(0),
]);

const decode = (bytes: Buffer, limits = { maxPoints: 1000, maxTextBytes: 1000 }) => decodeResult(bytes, limits);

describe('sandbox: result frames', () => {
  test('the columns of a frame may differ in length, and an absent column becomes null (R-H3)', () => {
    expect(decode(okFrame)).toEqual({
      status: 'ok',
      messages: ['message'],
      warnings: ['warning'],
      errors: ['minor é'],
      series: {
        dates: Float64Array.of(10, Number.NaN),
        values: Float64Array.of(1.5),
        versions: { codes: Int32Array.of(0, 1, 0), texts: ['', 'v1'] },
        tags: null,
      },
      files: [{ name: 'plot.svg', bytes: Buffer.from('<s>') }],
    });
  });

  test('an error has a message, a call, a line, and the texts of the member `Errors` of the script’s result (R-H8)', () => {
    const failure = { status: 'script_error', message: 'no', call: 'f()', line: 7, errors: ['first', 'second'] };
    expect(decode(errorFrame)).toMatchObject(failure);
  });

  test('a frame cut at any byte, or followed by more bytes, is refused (R-H7)', () => {
    for (let length = 0; length < okFrame.length; length++) {
      expect(() => decode(okFrame.subarray(0, length))).toThrow(FrameError);
    }
    expect(() => decode(Buffer.concat([okFrame, int(0)]))).toThrow('but 4 B follow it');
  });

  test('a frame with a count, code or status out of range is refused (R-H7)', () => {
    const notes = Buffer.concat([int(MAGIC, 0), texts(), texts(), texts()]);
    const columns = Buffer.concat([notes, int(0), int(0)]);
    expect(() => decode(int(MAGIC, 0, 2 ** 31 - 1))).toThrow('truncated');
    expect(() => decode(int(MAGIC, 0, -5))).toThrow('must not be negative, got -5');
    expect(() => decode(int(MAGIC, 9))).toThrow('unknown status');
    expect(() => decode(Buffer.concat([columns, int(1), texts('a'), int(1), int(-1)]))).toThrow(
      'less than the length of its table (1), got 1',
    );
    expect(() => decode(Buffer.concat([columns, int(-7)]))).toThrow('must be at least -1, got -7');
    expect(() => decode(int(MAGIC, 0, 1, -1))).toThrow('must not be negative, got -1');
  });

  test('a column is refused when its table of distinct texts has more entries than the column has rows (R-H7)', () => {
    const columns = Buffer.concat([int(MAGIC, 0), texts(), texts(), texts(), int(0), int(0)]);
    const forged = Buffer.concat([columns, int(1, 1_000_000), Buffer.alloc(4_000_000)]);
    expect(() => decode(forged)).toThrow('a table must not be longer than its column, got 1000000 > 1');
  });

  test('when a column has more rows than allowed, the result has the status `output_size` and keeps its messages (R-H7)', () => {
    const columns = Buffer.concat([int(MAGIC, 0), texts('noted'), texts(), texts()]);
    for (const column of [[int(1001)], [int(0), int(1001)], [int(0), int(0), int(1001)]]) {
      const frame = Buffer.concat([columns, ...column, Buffer.alloc(8008)]);
      expect(decode(frame)).toMatchObject({ status: 'output_size', messages: ['noted'] });
    }
  });

  test('an empty message counts as one byte of the limit (R-H7)', () => {
    const count = 1_000_000;
    const frame = Buffer.concat([int(MAGIC, 0, count), Buffer.alloc(count * 4), okFrame.subarray(8 + 4 + 4 + 7)]);
    expect(decode(frame)).toMatchObject({ status: 'ok', messages: Array.from({ length: 1000 }, () => '') });
  });

  test.each([
    [4, ['é']],
    [5, ['é€']],
    [8, ['é€', '']],
    [9, ['é€', '😀']],
    [14, ['é€', '😀😀', 'x']],
  ])(
    'messages are cut to %i bytes in total, and a character is kept whole or left out (R-H7)',
    (maxTextBytes, messages) => {
      const frame = Buffer.concat([int(MAGIC, 0), texts('é€', '😀😀', 'x'), okFrame.subarray(8 + 4 + 4 + 7)]);
      expect(decode(frame, { maxPoints: 10, maxTextBytes })).toMatchObject({ messages });
    },
  );

  test('a frame with more than 100 files is refused (R-H7)', () => {
    const frame = Buffer.concat([okFrame.subarray(0, okFrame.length - 4 - 4 - 8 - 4 - 3), int(101), Buffer.alloc(808)]);
    expect(() => decode(frame)).toThrow('a result must have at most 100 files, got 101');
  });

  test('decoding arbitrary bytes either succeeds or throws FrameError (R-H7)', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, isMarked) => {
        const frame = isMarked ? Buffer.concat([int(MAGIC), bytes]) : Buffer.from(bytes);
        try {
          decode(frame);
        } catch (error) {
          expect(error).toBeInstanceOf(FrameError);
        }
      }),
    );
  });
});

describe('sandbox: request frames', () => {
  test('columns of unequal length throw RangeError instead of being sent (R-H2)', () => {
    const series = { ...regularSeries(2), values: Float64Array.of(1) };
    expect(() => encodeRequest(jobOf('', { inputs: [inputOf('a', series)] }))).toThrow(RangeError);
  });

  test('when a column is a view into a larger buffer, only the part in the view is sent (R-H2)', () => {
    const whole = { ...regularSeries(3), dates: Int32Array.of(0, 1, 2) };
    const part = { ...regularSeries(2), dates: whole.dates.subarray(1) };
    const frame = encodeRequest(jobOf('', { inputs: [inputOf('a', part)] }));
    expect(frame.includes(int(2, 4, 1, 2))).toBe(true);
    expect(frame.includes(int(0, 1, 2))).toBe(false);
  });

  test('a NUL in a text becomes U+FFFD, because R strings cannot contain NUL (R-H2)', () => {
    const frame = encodeRequest(jobOf('a\0b'));
    expect(frame.includes('a\uFFFDb')).toBe(true);
  });

  test('the random seed depends on the inputs and the trigger date, not on the script (R-H8)', () => {
    const seedOf = (script: string, rows: number, parts: Partial<SandboxJob> = {}) => {
      const frame = encodeRequest(jobOf(script, { inputs: [inputOf('a', regularSeries(rows))], ...parts }));
      return frame.readInt32LE(frame.length - 4);
    };
    expect(seedOf('other', 2, { pictures: 'svg' })).toBe(seedOf('', 2));
    expect(seedOf('', 3)).not.toBe(seedOf('', 2));
    expect(seedOf('', 2, { triggerDate: 1 })).not.toBe(seedOf('', 2));
    expect(seedOf('', 2)).toBeGreaterThanOrEqual(0);
  });
});

const LIMITS: RunLimits = {
  wallTimeMs: 30_000,
  cpuTimeSec: 30,
  memoryBytes: 2 ** 30,
  tmpBytes: 1 << 20,
  maxProcesses: 64,
  maxTextBytes: 1024,
  maxPoints: 5_000_000,
};

describe('sandbox: answers', () => {
  const chunk = (kind: number, payload: Buffer) => Buffer.concat([int(kind, payload.length), payload]);
  const trailer = Buffer.alloc(64);
  trailer.writeUInt32LE(0x31544d54, 0);
  trailer.writeBigUInt64LE(9000n, 24);
  trailer.writeInt32LE(12, 56);
  const answer = Buffer.concat([
    chunk(1, okFrame.subarray(0, 20)),
    chunk(1, okFrame.subarray(20)),
    chunk(2, Buffer.from('printed')),
    chunk(3, trailer),
  ]);

  test('an answer is assembled from pieces of any size (R-H7)', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(answer.length), { maxLength: 8 }), (cuts) => {
        const reader = new AnswerReader();
        const bounds = [0, ...cuts.sort((a, b) => a - b), answer.length];
        const ends = bounds.slice(1).map((end, index) => reader.take(answer.subarray(bounds[index], end)));
        expect(ends.at(-1)).toBe(true);
        const { result, ...rest } = reader.answer();
        expect(Buffer.concat(result)).toEqual(okFrame);
        expect(rest).toMatchObject({ output: 'printed', trailer: { wallMs: 9, line: 12 } });
      }),
    );
  });

  test('a run header has 64 bytes, with the length of the frame at offset 8 and the memory limit at offset 24 (R-H7)', () => {
    const header = encodeRunHeader(LIMITS, 77);
    expect(header).toHaveLength(64);
    expect(header.readBigUInt64LE(8)).toBe(77n);
    expect(header.readBigUInt64LE(24)).toBe(2n ** 30n);
  });
});

describe('sandbox: the outcome of a run (R-H7)', () => {
  const trailer: Trailer = {
    end: 'exited',
    code: 0,
    limit: null,
    stage: 'nothing',
    errno: 0,
    wallMs: 10,
    cpuMs: 5,
    maxRssBytes: 1,
    textBytes: 0,
    line: null,
  };
  const outcomeOf = (
    { result, ...answer }: { result: Buffer; output: string; outputBytes?: number; trailer: Trailer | null },
    limits: RunLimits,
    elapsedMs = 12,
    isAlone = true,
  ) => {
    const parts = result.length > 0 ? [result] : [];
    const outputBytes = answer.outputBytes ?? Buffer.byteLength(answer.output);
    return decideOutcome(
      { ...answer, outputBytes, result: parts },
      tryDecodeResult(result, limits),
      limits,
      elapsedMs,
      isAlone,
    );
  };
  const decide = (change: Partial<Trailer>, result = okFrame, output = '') =>
    outcomeOf({ result, output, trailer: { ...trailer, ...change } }, LIMITS);

  test.each([
    ['a finished run is ok', {}, { kind: 'ok', timing: { waitMs: 2, runMs: 10 } }],
    [
      'a failed set-up is a fault of the sandbox, even with a result',
      { end: 'setup_failed', stage: 'opening pipes', errno: 24 },
      { kind: 'fault', cause: 'sandbox' },
    ],
    [
      'an exceeded limit is reported, even with a result',
      { limit: 'wall_time' },
      { kind: 'limit', message: 'the script ran longer than 30 s' },
    ],
    [
      'the outcome of an exceeded limit names the line reached last',
      { limit: 'wall_time', line: 12 },
      { kind: 'limit', line: 12 },
    ],
    [
      'an exceeded limit is reported, even when a signal ended the run',
      { limit: 'memory', end: 'signalled', code: 9 },
      { kind: 'limit' },
    ],
    [
      'when a signal ended the run, the outcome is `killed` and names the signal',
      { end: 'signalled', code: 11 },
      { kind: 'killed', signal: 'SIGSEGV' },
    ],
  ] satisfies [string, Partial<Trailer>, object][])('%s', (_, change, expected) => {
    expect(decide(change)).toMatchObject(expected);
  });

  test('the note about output that was not kept counts the bytes as received, even if they are not UTF-8 (R-H7)', () => {
    const output = Buffer.alloc(10, 0xe9).toString('utf8');
    const answer = { result: okFrame, output, outputBytes: 10, trailer: { ...trailer, textBytes: 25 } };
    expect(outcomeOf(answer, LIMITS)).toMatchObject({ notes: { output: `${output}\n… 15 more bytes were not kept` } });
  });

  test('a run that returns too many points fails, and the outcome names the limit `output_size` (R-H7)', () => {
    const small = { ...LIMITS, maxPoints: 2, maxTextBytes: 5 };
    const answer = (result: Buffer) => ({ result, output: '', trailer });
    const message = 'the script returned more than 2 points or a result larger than 64 MiB';
    expect(outcomeOf(answer(okFrame), small)).toMatchObject({ kind: 'limit', limit: 'output_size', message });
    expect(outcomeOf(answer(okFrame), { ...small, maxPoints: 3 })).toMatchObject({
      errors: ['minor'],
      notes: { messages: ['messa'], warnings: ['warni'] },
    });
  });

  test.each([
    ['no other run was under way', 'run', true],
    ['another run was under way', 'sandbox', false],
  ] as const)('if %s, an answer without a trailer is a fault with the cause `%s` (R-H7)', (_where, cause, isAlone) => {
    const answer = { result: okFrame, output: '', trailer: null };
    expect(outcomeOf(answer, LIMITS, 1, isAlone)).toMatchObject({ kind: 'fault', cause });
  });

  test('when a run has no result and its output reports a failed allocation, the run has exceeded its memory limit (R-H7)', () => {
    const outcome = decide({ code: 1 }, Buffer.alloc(0), 'Error: cannot allocate memory block of size 134217728');
    expect(outcome).toMatchObject({ kind: 'limit', limit: 'memory' });
  });

  test('when a run without a result or output exits with code 3, the outcome is a script error (R-H7)', () => {
    expect(decide({ code: 3 }, Buffer.alloc(0))).toMatchObject({ kind: 'script_error' });
  });
});
