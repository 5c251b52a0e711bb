/** `npm run reset`: removes the data of this checkout's database and Redis, and starts the stack. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { STACK_DIRECTORY } from '../paths.ts';
import { rootDirectory } from '../roots/ensure-root.ts';
import { databaseRecipe } from '../roots/recipes.ts';
import { runStack } from '../run-stack.ts';
import { readExternalServices } from '../services/external.ts';
import { chooseLauncher, locateState } from '../services/launcher.ts';
import { takeLock } from '../services/services.ts';
import { SetupError } from '../setup-error.ts';
import { runCommand } from './cli.ts';

await runCommand(async () => {
  if (readExternalServices(process.env)) {
    throw new SetupError(
      'DATABASE_URL and REDIS_URL are set, but `npm run reset` removes only the data of the services that `npm start` runs itself; unset both settings first.',
    );
  }
  removeData();
  return runStack({ restartsOnChange: false });
});

function removeData(): void {
  using _lock = takeLock(STACK_DIRECTORY);
  const launcher = chooseLauncher(process.env);
  for (const name of ['postgres', 'redis']) {
    const { hostPath } = locateState(launcher, rootDirectory(databaseRecipe()), join(STACK_DIRECTORY, name));
    rmSync(hostPath, { recursive: true, force: true });
  }
}
