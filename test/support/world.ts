/** A small world to test in: a database of its own with an account and its manager, and what processes need there. */
import { type Database, openDatabase } from '../../src/platform/database/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { seedManager } from './manager.ts';
import type { RoleEnvironment } from './role-process.ts';
import { createTestDatabase, createTestQueuePrefix, testRedisUrl } from './stack.ts';

export interface World {
  readonly database: Database;
  readonly accountId: number;
  /** What the product's processes need to work in this world. */
  readonly environment: RoleEnvironment;
  close(): Promise<void>;
}

/** An account with a manager who may push. */
export async function createWorld(): Promise<World> {
  const { url, drop } = await createTestDatabase();
  const log = createLog('error', 'test');
  const database = openDatabase({ url, poolSize: 4, applicationName: 'test', log });
  const accountId = await seedManager(database);
  return {
    database,
    accountId,
    environment: {
      DATABASE_URL: url,
      REDIS_URL: testRedisUrl(),
      QUEUE_PREFIX: createTestQueuePrefix(),
      SWEEP_INTERVAL_MS: '300',
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8,::1',
    },
    close: async () => {
      await database.end();
      await drop();
    },
  };
}
