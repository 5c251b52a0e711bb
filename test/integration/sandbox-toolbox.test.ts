import { readFile } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { jobOf, openTestPool } from '../fixtures/scripts/harness.ts';

/** Starting R and running it take a second each, more on a busy machine. */
vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

test('the toolbox puts inputs on axes, keeps totals and filters as documented (R-H4)', async () => {
  const script = await readFile(new URL('../../r-runtime/tests/toolbox.R', import.meta.url), 'utf8');
  const pool = await openTestPool();
  try {
    expect(await pool.run(jobOf(script))).toMatchObject({ kind: 'ok', errors: [] });
  } finally {
    await pool.close();
  }
});
