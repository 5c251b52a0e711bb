import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { fileRoutes } from '../../../src/files/file-routes.ts';
import type { CallerEnv } from '../../../src/identity/authentication/authenticate.ts';
import type { Caller } from '../../../src/identity/caller/caller.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { DomainError, ERROR_MAPPINGS } from '../../../src/platform/errors.ts';
import { createLog } from '../../../src/platform/log.ts';

const FILE = '0191f1a0-0000-7000-8000-000000000001';
const MAX_PER_USER = 3;

/** Serves the file routes, with one file whose state stays Processing. */
function openRoutes(): Hono<CallerEnv> {
  const database = { query: async () => ({ rows: [{ id: FILE, state: 'Processing' }] }) } as unknown as Database;
  const app = new Hono<CallerEnv>();
  app.use('*', async (c, next) => {
    c.set('caller', { userId: 'u', accountId: 1, role: 'MANAGER' } as Caller);
    await next();
  });
  app.onError((error, c) => c.text('', error instanceof DomainError ? ERROR_MAPPINGS[error.code].http : 500));
  const services = {
    ...{
      database,
      maxBytes: 1,
      maxMemoryBytes: 1,
      wakeFileIngester: async () => true,
      log: createLog('silent', 'test'),
    },
    following: { maxPerUser: MAX_PER_USER, maxFollowers: 100 },
  };
  return app.route('/', fileRoutes(services) as unknown as Hono<CallerEnv>);
}

const PATH = `/storage/${FILE}/events`;

describe('files: the event stream of a file', () => {
  test('a user with the maximum number of streams gets 429 until one of the streams ends (R-A14)', async () => {
    const app = openRoutes();
    const leaving = new AbortController();
    for (let count = 0; count < MAX_PER_USER; count += 1) {
      expect((await app.request(PATH, { signal: leaving.signal })).status).toBe(200);
    }
    expect((await app.request(PATH, { signal: leaving.signal })).status).toBe(429);
    leaving.abort();
    const { status, body } = await app.request(PATH);
    expect(status).toBe(200);
    await body?.cancel();
  });

  test('a HEAD request is answered without following the file (R-A14)', async () => {
    const app = openRoutes();
    for (let count = 0; count <= MAX_PER_USER; count += 1) {
      const answer = await app.request(PATH, { method: 'HEAD' });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    }
    const { status, body } = await app.request(PATH);
    expect(status).toBe(200);
    await body?.cancel();
  });

  test('an aborted request no longer counts towards the limit, even when its answer is never read (R-A14)', async () => {
    const app = openRoutes();
    for (let count = 0; count <= MAX_PER_USER; count += 1) {
      const leaving = new AbortController();
      expect((await app.request(PATH, { signal: leaving.signal })).status).toBe(200);
      leaving.abort();
    }
  });
});
