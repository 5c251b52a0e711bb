/**
 * Chooses the database and Redis of the local stack: external services when DATABASE_URL and REDIS_URL are set; services
 * that the stack starts itself (its own services) when neither is set. Only one of them is an error.
 */
import { LOG_DIRECTORY, STACK_DIRECTORY } from '../paths.ts';
import type { Progress } from '../progress.ts';
import type { Secrets } from '../secrets.ts';
import { checkExternalServices, readExternalServices } from './external.ts';
import type { Lock } from './lock.ts';
import { ensureDatabase } from './postgres.ts';
import { startServices } from './services.ts';

const DATABASE = 'tidemark';

export interface StackServices {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /**
   * Resolves when the first of the stack's own services ends, by itself or because of `stop`. The value is the name of
   * this service. Never resolves when the services are external.
   */
  readonly firstEnded: Promise<string>;
  /** Stops the stack's own services; external services keep running. */
  stop(): Promise<void>;
}

/**
 * Checks the external services, or starts the stack's own services.
 * @param lock lock of STACK_DIRECTORY; the stack's own services hold this lock as long as they run.
 * @throws {Error} when the external services are unsuitable, or when the stack's own services cannot be started.
 */
export async function findServices(secrets: Secrets, lock: Lock, progress: Progress): Promise<StackServices> {
  const external = readExternalServices(process.env);
  if (!external) return startOwn(secrets, lock, progress);
  await progress.phase('Checking DATABASE_URL and REDIS_URL', () => checkExternalServices(external));
  return { ...external, firstEnded: new Promise(() => {}), stop: async () => {} };
}

async function startOwn(secrets: Secrets, lock: Lock, progress: Progress): Promise<StackServices> {
  const services = await startServices({
    directory: STACK_DIRECTORY,
    lock,
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
