/**
 * Set-up of a whole test run: TimescaleDB and Redis with empty data, a migrated template database, the R root file
 * system and the built console.
 */
import type { TestProject } from 'vitest/node';
import { prepareCalculator } from '../../../src/local/calculator-setup.ts';
import { prepareConsole } from '../../../src/local/console-setup.ts';
import { createProgress } from '../../../src/local/progress.ts';
import { ensureDatabase } from '../../../src/local/services/postgres.ts';
import { startTemporaryStack } from '../../../src/local/services/temporary-stack.ts';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { createLog } from '../../../src/platform/log.ts';
import { freezeTemplate } from './template.ts';

const TEMPLATE = 'template_tidemark';

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of the database `postgres` on the server of this test run. */
    serverUrl: string;
    /** Migrated, empty database that test files clone. */
    templateDatabase: string;
    redisUrl: string;
    /** Root file system of R; undefined where R cannot run. */
    rRoot: string | undefined;
    /** Directory of the built console. */
    consoleDirectory: string;
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const progress = createProgress(process.stderr);
  const { rRoot } = await prepareCalculator(progress);
  const consoleDirectory = await prepareConsole(progress);
  const services = await startTemporaryStack({ purpose: 'test', isDurable: false, progress });
  try {
    await progress.phase('Preparing the template database', async () => {
      await migrate(await ensureDatabase(services.serverUrl, TEMPLATE), createLog('error', 'test'));
      await freezeTemplate(services.serverUrl, TEMPLATE);
    });
  } catch (error) {
    await services.stop();
    throw error;
  }
  project.provide('serverUrl', services.serverUrl);
  project.provide('templateDatabase', TEMPLATE);
  project.provide('redisUrl', services.redisUrl);
  project.provide('rRoot', rRoot);
  project.provide('consoleDirectory', consoleDirectory);
  return () => services.stop();
}
