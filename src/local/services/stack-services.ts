/** The database and Redis the local stack shall use: those the environment names, else our own. */

import { LOG_DIRECTORY, STACK_DIRECTORY } from '../paths.ts';
import type { Progress } from '../progress.ts';
import type { Secrets } from '../secrets.ts';
import { checkExternalServices, readExternalServices } from './external.ts';
import { ensureDatabase } from './postgres.ts';
import { startServices, takeLock } from './services.ts';

const DATABASE = 'tidemark';

export interface StackServices {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Resolves with the name of a service of ours that ended by itself. */
  readonly firstEnded: Promise<string>;
  /** Stops what is ours; services of others are left alone. */
  stop(): Promise<void>;
}

/** @throws SetupError when the services will not do or cannot be started, or this checkout's stack runs already. */
export async function findServices(secrets: Secrets, progress: Progress): Promise<StackServices> {
  const external = readExternalServices(process.env);
  if (!external) return startOwn(secrets, progress);
  const lock = takeLock(STACK_DIRECTORY);
  await progress.phase('Checking DATABASE_URL and REDIS_URL', () => checkExternalServices(external));
  return { ...external, firstEnded: new Promise(() => {}), stop: async () => lock[Symbol.dispose]() };
}

async function startOwn(secrets: Secrets, progress: Progress): Promise<StackServices> {
  const services = await startServices({
    directory: STACK_DIRECTORY,
    logDirectory: LOG_DIRECTORY,
    passwords: secrets,
    isDurable: true,
    progress,
  });
  try {
    return {
      ...services,
      databaseUrl: await ensureDatabase(services.serverUrl, DATABASE),
      stop: () => progress.phase('Stopping TimescaleDB and Redis', () => services.stop()),
    };
  } catch (error) {
    await services.stop();
    throw error;
  }
}
