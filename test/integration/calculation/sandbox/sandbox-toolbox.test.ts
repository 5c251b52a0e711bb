/** Runs the testthat tests of the R package in the sandbox (R-H4). */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { SandboxPool } from '../../../../src/calculation/sandbox/pool.ts';
import { jobOf, openTestPool } from '../../../fixtures/scripts/harness.ts';

/** Starting R takes about 2 s, more on a busy machine. */
vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

const FOLDER = fileURLToPath(new URL('../../../../r-runtime/tests/testthat', import.meta.url));
const FILES = globSync('test-*.R', { cwd: FOLDER });
if (FILES.length === 0) throw new Error(`no testthat files in ${FOLDER}`);
const read = (file: string) => readFileSync(join(FOLDER, file), 'utf8');
const EMPTY = 'list(TimeSeries = list(Dates = integer(), Values = numeric()))';

let pool: SandboxPool;
beforeAll(async () => {
  pool = await openTestPool();
});
afterAll(() => pool?.close());

const run = (tests: string) => pool.run(jobOf(`library(testthat)\n${read('helper-inputs.R')}\n${tests}\n${EMPTY}`));

test.each(FILES)('R package: the test file %s passes in the sandbox (R-H4)', async (file) => {
  expect(await run(read(file))).toMatchObject({ kind: 'ok' });
});

test('R package: a run with a failed testthat expectation ends with script_error (R-H4)', async () => {
  const failing = 'test_that("one is two", expect_identical(1, 2))';
  expect(await run(failing)).toMatchObject({ kind: 'script_error' });
});
