import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const CHECKOUT = fileURLToPath(new URL('..', import.meta.url));

/** Two projects, so that unit tests run without services: `--project unit`. */
export default defineConfig({
  test: {
    root: CHECKOUT,
    pool: 'forks',
    maxWorkers: 2,
    // A worker runs many files and loads the modules once: a third less CPU time.
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
          globalSetup: ['test/support/services/global-setup.ts'],
          setupFiles: ['test/support/services/worker-environment.ts'],
          hookTimeout: 60_000,
          // Files that start a process for each test and mostly wait for it.
          maxConcurrency: 3,
        },
      },
    ],
  },
});
