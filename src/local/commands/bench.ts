/**
 * `npm run bench [-- --json FILE …]`: starts a temporary TimescaleDB and Redis, with the same durability settings as
 * under `npm start`, and runs `test/bench/run.ts` against them. `run.ts` gets DATABASE_URL (a migrated database) and
 * REDIS_URL. On a machine where R can run, it also gets R_ROOT.
 */

import { migrate } from '../../platform/database/migrate.ts';
import { createLog } from '../../platform/log.ts';
import { prepareCalculator } from '../calculator-setup.ts';
import { createProgress } from '../progress.ts';
import { runProgram } from '../run-program.ts';
import { ensureDatabase } from '../services/postgres.ts';
import { startTemporaryStack } from '../services/temporary-stack.ts';
import { runCommand } from './cli.ts';

await runCommand(async () => {
  const progress = createProgress(process.stderr);
  const calculator = await prepareCalculator(progress);
  const services = await startTemporaryStack({ purpose: 'bench', isDurable: true, progress });
  try {
    const databaseUrl = await ensureDatabase(services.serverUrl, 'bench');
    await migrate(databaseUrl, createLog('error', 'bench'));
    const environment = { DATABASE_URL: databaseUrl, REDIS_URL: services.redisUrl, ...calculator.environment };
    return await runProgram(['test/bench/run.ts', ...process.argv.slice(2)], environment);
  } finally {
    await services.stop();
  }
});
