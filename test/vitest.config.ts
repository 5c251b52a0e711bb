import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import FileOrder from './support/file-order.ts';

/** Tests of points. They are repeated on compressed chunks when TIMESCALEDB_BUILD names a build that can compress. */
const TESTS_OF_POINTS = [
  'test/integration/points/*.test.ts',
  'test/integration/points/remove/*.test.ts',
  'test/integration/reading/*.test.ts',
  'test/integration/retention/*.test.ts',
  'test/integration/grpc/grpc-read*.test.ts',
];
const CHECKOUT = fileURLToPath(new URL('..', import.meta.url));

const ON_SERVICES = {
  globalSetup: ['test/support/services/global-setup.ts'],
  setupFiles: ['test/support/services/worker-environment.ts'],
  hookTimeout: 60_000,
  // At most three of a file's tests that are marked `concurrent` run at the same time. They can overlap, because they
  // usually wait for other processes.
  maxConcurrency: 3,
};

/** Projects: `unit` runs without services, `stack` with services; `columns` repeats tests on compressed chunks. */
export default defineConfig({
  test: {
    root: CHECKOUT,
    pool: 'forks',
    // Three workers suit two processors: while one worker waits for other processes, the other two use the processors.
    maxWorkers: 3,
    sequence: { sequencer: FileOrder },
    // A worker runs many files and loads the modules once, which saves a third of the CPU time.
    isolate: false,
    testTimeout: 30_000,
    reporters: ['default', new URL('./support/closing-line-reporter.ts', import.meta.url).pathname],
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'stack',
          include: ['test/integration/**/*.test.ts', 'test/acceptance/**/*.test.ts'],
          ...ON_SERVICES,
        },
      },
      ...(process.env.TIMESCALEDB_BUILD
        ? [
            {
              extends: true as const,
              test: {
                name: 'columns',
                include: TESTS_OF_POINTS,
                // The excluded tests compress chunks themselves, lock a table of points, check that writers do not
                // wait, or create more than a hundred chunks.
                exclude: ['**/columnstore.test.ts', '**/version-timestamps.test.ts', '**/writer-chunks.test.ts'],
                ...ON_SERVICES,
                // Tests are slower on compressed chunks: a `PointStore` compresses all chunks after each write, and a
                // write to a chunk waits while the chunk is being compressed.
                testTimeout: 180_000,
                provide: { isInColumns: true },
              },
            },
          ]
        : []),
    ],
  },
});
