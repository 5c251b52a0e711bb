/** A database and a queue prefix for one test file, on the PostgreSQL and Redis servers that the test run started. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { withDatabase } from '../../../src/local/services/postgres.ts';
import { type ColumnsKeeper, keepInColumns } from './columns.ts';
import { cloneTemplate, dropDatabase } from './template.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** True in the vitest project that runs the tests of points again, now with all points in compressed chunks. */
    isInColumns: boolean | undefined;
  }
}

/**
 * Begins a transaction that may stay idle and hold its locks as long as a test needs, for example while a process
 * starts.
 */
export const BEGIN_HOLDING = 'begin; set local idle_in_transaction_session_timeout = 0';

export interface TestDatabase {
  readonly url: string;
  readonly database: string;
  /** Keeps the chunks of the database compressed; defined only in the vitest project that tests compressed chunks. */
  readonly columns: ColumnsKeeper | undefined;
  /** Ends the connections that are still open, then drops the database. */
  drop(): Promise<void>;
}

/** Creates a migrated, empty database. Call `drop` when done. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl');
  const database = `test_${randomBytes(6).toString('hex')}`;
  await cloneTemplate(serverUrl, inject('templateDatabase'), database);
  const url = withDatabase(serverUrl, database);
  const columns = inject('isInColumns') ? await keepInColumns(url) : undefined;
  const drop = async (): Promise<void> => {
    await columns?.stop();
    await dropDatabase(serverUrl, database);
  };
  return { url, database, columns, drop };
}

/** @returns a prefix for Redis keys; no other test uses this prefix. */
export function createTestQueuePrefix(): string {
  return `test-${randomBytes(6).toString('hex')}`;
}

/** @returns the URL of the Redis server that this test run started. */
export function testRedisUrl(): string {
  return inject('redisUrl');
}

/** Removes every job with this QUEUE_PREFIX from Redis, including jobs whose lock a killed worker left behind. */
export async function forgetJobs({ QUEUE_PREFIX = '' }: Readonly<Record<string, string>>): Promise<void> {
  if (QUEUE_PREFIX === '') throw new Error('QUEUE_PREFIX must be set');
  const redis = new Redis(testRedisUrl());
  try {
    const keys = await redis.keys(`${QUEUE_PREFIX}:*`);
    if (keys.length > 0) await redis.del(keys);
  } finally {
    redis.disconnect();
  }
}

/** @returns the path of the R root file system. @throws {Error} when this machine cannot run R. */
export function testRRoot(): string {
  const rRoot = inject('rRoot');
  if (rRoot === undefined)
    throw new Error('R cannot run on this machine: it needs mmdebstrap or R_ROOT, and user namespaces or root');
  return rRoot;
}
