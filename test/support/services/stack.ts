/** What a test file gets of the run's services: a database and a queue prefix of its own. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { withDatabase } from '../../../src/local/services/postgres.ts';
import { cloneTemplate, dropDatabase } from './template.ts';

export interface TestDatabase {
  readonly url: string;
  readonly database: string;
  /** Drops the database, ending connections left open. */
  drop(): Promise<void>;
}

/** A migrated, empty database of one's own. Call `drop` when done. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl');
  const database = `test_${randomBytes(6).toString('hex')}`;
  await cloneTemplate(serverUrl, inject('templateDatabase'), database);
  return { url: withDatabase(serverUrl, database), database, drop: () => dropDatabase(serverUrl, database) };
}

/** A prefix for keys in Redis that no other test uses. */
export function createTestQueuePrefix(): string {
  return `test-${randomBytes(6).toString('hex')}`;
}

/** The Redis of this run. */
export function testRedisUrl(): string {
  return inject('redisUrl');
}

/** Removes every job from Redis, those a dead worker still holds included, for which others would have to wait some seconds. */
export async function forgetJobs({ QUEUE_PREFIX = '' }: Readonly<Record<string, string>>): Promise<void> {
  if (QUEUE_PREFIX === '') throw new Error('the queues have no prefix of their own');
  const redis = new Redis(testRedisUrl());
  try {
    const keys = await redis.keys(`${QUEUE_PREFIX}:*`);
    if (keys.length > 0) await redis.del(keys);
  } finally {
    redis.disconnect();
  }
}

/** Root file system of R. @throws Error where the machine cannot run R confined. */
export function testRRoot(): string {
  const rRoot = inject('rRoot');
  if (rRoot === undefined) throw new Error('R cannot be run on this machine');
  return rRoot;
}
