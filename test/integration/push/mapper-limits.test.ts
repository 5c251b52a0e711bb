/** Limits of mappers: isolation of accounts, size of the answer, and memory (R-D9, R-K3). */
import { afterEach, describe, expect, test } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import { type MapperRunner, openMapperRunner } from '../../../src/push/mapper/run-mapper.ts';
import { measureTurns } from '../../support/measure-turns.ts';

const ENDLESS = '($f := function($x){ $f($x + 1) }; $f(0))';
const BODY = { format: 'json', hasHeader: true, bytes: Buffer.from('{}') } as const;
const MEBIBYTE = 2 ** 20;
/** Allowance for a busy machine; on an idle machine, a run takes a few milliseconds. */
const NOISE_MS = 100;

let runner: MapperRunner | undefined;
afterEach(() => runner?.close());

function open(parts: { processes?: number; timeoutMs?: number; memoryMebibytes?: number } = {}): MapperRunner {
  const { processes = 3, timeoutMs = 60_000, memoryMebibytes = 128 } = parts;
  runner = openMapperRunner({ processes, timeoutMs, memoryMebibytes }, createLog('silent', 'test'));
  return runner;
}

/** @returns the 95th percentile of the durations of 20 runs, in milliseconds. */
async function timeRuns(mappers: MapperRunner, accountId: number): Promise<number> {
  const durations: number[] = [];
  for (let run = 0; run < 20; run += 1) {
    const startMs = performance.now();
    await mappers.run({ accountId, key: 'honest' }, { expression: '[]', body: BODY, maxBytes: 1000 });
    durations.push(performance.now() - startMs);
  }
  return durations.toSorted((a, b) => a - b)[18] ?? Number.NaN;
}

describe('mapper: isolation of accounts', () => {
  test('while another account runs mappers that never end, the p95 duration of an account’s runs stays below 3 × its normal value + 100 ms (R-D9, R-K3)', async () => {
    const mappers = open({ timeoutMs: 4000 });
    const quietMs = await timeRuns(mappers, 2);
    const endless = Array.from({ length: 6 }, (_, index) =>
      mappers.run({ accountId: 1, key: `endless ${index}` }, { expression: ENDLESS, body: BODY, maxBytes: 1000 }),
    );
    const ended = Promise.allSettled(endless);
    expect(await timeRuns(mappers, 2)).toBeLessThan(3 * quietMs + NOISE_MS);
    const codes = (await ended).map((result) => (result.status === 'rejected' ? result.reason.code : 'none'));
    expect(new Set(codes)).toEqual(new Set(['mapping_failed', 'queue_full']));
  });
});

test('mapper: a body that is not UTF-8 is refused with an error that names the first invalid line (R-D9, R-A5)', async () => {
  const body = { format: 'csv', hasHeader: true, bytes: Buffer.from('a;b\n1;2\n\xe9;3\n', 'latin1') } as const;
  const message = 'the body must be UTF-8; see line 3 of the body';
  const run = open().run({ accountId: 1 }, { expression: '[]', body, maxBytes: 1000 });
  await expect(run).rejects.toMatchObject({ code: 'mapping_failed', message });
});

describe('mapper: answer size and memory', () => {
  test.each([
    ['an answer of 1000 bytes is returned when the limit is 1000 bytes', '$pad("",996,"x")', undefined],
    ['an answer of 1001 bytes is refused with an error that names the limit of 1000 bytes', '$pad("",997,"x")', 1001],
    [
      'an answer of 503 characters and 1002 bytes is refused with an error that names the limit of 1000 bytes',
      '$pad("",499,"é")',
      1002,
    ],
  ])('%s (R-D9)', async (_what, expression, bytes) => {
    const run = open().run({ accountId: 1 }, { expression, body: BODY, maxBytes: 1000 });
    if (bytes === undefined) expect((await run).kind).toBe('mapped');
    else {
      const message = `the mapped body must be at most 1000 bytes, got ${bytes} bytes`;
      await expect(run).rejects.toMatchObject({ code: 'body_too_large', message });
    }
  });

  test('an answer of 250 MB adds less than 100 MiB to the memory of the API (R-D9)', async () => {
    const mappers = open({ memoryMebibytes: 1024 });
    const before = process.memoryUsage().rss;
    const { maxTurnMs } = await measureTurns(async () => {
      const mapping = { expression: '$pad("",250000000,"x")', body: BODY, maxBytes: MEBIBYTE };
      const message = expect.stringMatching(/at most 1048576 bytes \(1 MiB\), got 25000000\d bytes$/);
      await expect(mappers.run({ accountId: 1 }, mapping)).rejects.toMatchObject({ code: 'body_too_large', message });
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MEBIBYTE);
    expect(maxTurnMs).toBeLessThan(500);
  });

  test.each([
    ['one long text', '$pad("",250000000,"x")'],
    ['texts outside the heap', '$base64encode($pad("",200000000,"x"))'],
    ['a long array', '$split($pad("",20000000,"x,"),",")'],
  ])(
    'when a mapper builds %s and exceeds its memory limit, it fails with mapping_failed (R-D9)',
    async (_what, expression) => {
      const run = open({ memoryMebibytes: 128 }).run({ accountId: 1 }, { expression, body: BODY, maxBytes: MEBIBYTE });
      const message =
        /ended before it answered; the mapper may have exceeded its limit of 128 MiB of memory|the mapper failed: Failed to/;
      await expect(run).rejects.toMatchObject({ code: 'mapping_failed', message: expect.stringMatching(message) });
    },
  );
});
