/**
 * `npm test [-- vitest arguments]` runs the whole suite. The command first builds the root file systems, with visible
 * progress; the suite's set-up then starts the services (test/support/services/global-setup.ts).
 */
import { prepareCalculator } from '../calculator-setup.ts';
import { createProgress } from '../progress.ts';
import { ensureRoot } from '../roots/ensure-root.ts';
import { databaseRecipe } from '../roots/recipes.ts';
import { runProgram } from '../run-program.ts';
import { runCommand } from './cli.ts';

await runCommand(async () => {
  const progress = createProgress(process.stdout);
  // Builds the root file systems of the database and of R in parallel. A cached root file system is not built again.
  await Promise.all([ensureRoot(databaseRecipe(), progress), prepareCalculator(progress)]);
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
  return runProgram([...vitest, ...process.argv.slice(2)]);
});
