/** `npm run bench [-- --json FILE]`: prints ratios against limits measured in the same run. */
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/platform/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { seedManager, signIn } from '../support/manager.ts';
import { startRoles } from '../support/role-process.ts';
import { benchCalculation } from './calculation-bench.ts';
import { benchCalculationService } from './calculation-service-bench.ts';
import { benchPush } from './push-bench.ts';
import { type Figure, report } from './report.ts';
import { benchSandbox } from './sandbox-bench.ts';

const PASSED_ON = ['DATABASE_URL', 'REDIS_URL'] as const;

const log = createLog('error', 'bench');
const config = readConfig(process.env);
const environment = Object.fromEntries(PASSED_ON.map((name) => [name, config[name]]));
const database = openDatabase({ url: config.DATABASE_URL, poolSize: 4, applicationName: 'bench', log });
const figures: Figure[] = [];

await seedManager(database);
const roles = await startRoles(['api', 'ingester'], { ...environment, LOG_LEVEL: 'error' });
try {
  figures.push(await benchPush(database, await signIn(roles.http)));
} finally {
  await roles.kill('SIGTERM');
  await database.end();
}
if (config.R_ROOT === undefined) process.stdout.write('calculation: left out, this machine cannot run R\n');
else figures.push(...(await benchCalculations(config.R_ROOT)));
report(figures, process.argv);

/** The sandbox alone, then the whole service. */
async function benchCalculations(rRoot: string): Promise<readonly Figure[]> {
  const alone = [await benchCalculation(config, log), ...(await benchSandbox(config, log))];
  const reader = openDatabase({ url: config.DATABASE_URL, poolSize: 4, applicationName: 'bench', log });
  const all = await startRoles(['api', 'ingester', 'calculator'], {
    ...environment,
    R_ROOT: rRoot,
    LOG_LEVEL: 'error',
  });
  try {
    return [...alone, ...(await benchCalculationService(reader, await signIn(all.http)))];
  } finally {
    await all.kill('SIGTERM');
    await reader.end();
  }
}
