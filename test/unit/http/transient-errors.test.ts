/** The errors that REST and gRPC clients get for transient failures, after which they can retry. */
import { status } from '@grpc/grpc-js';
import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { toStatus } from '../../../src/grpc/status.ts';
import { errorHandler } from '../../../src/http/error-response.ts';
import { type RequestIdEnv, requestId } from '../../../src/platform/http/request-id.ts';
import { createLog } from '../../../src/platform/log.ts';

const log = createLog('silent', 'test');
const failure = (code: string) => Object.assign(new Error('failed'), { code });

describe('errors: a request that failed through no fault of the client', () => {
  test.each(['40P01', '40001', '55P03', 'ENOSPC', '57P01'])(
    'with the error code %s gets 503 with Retry-After over REST, and UNAVAILABLE over gRPC (R-A5)',
    async (code) => {
      const app = new Hono<RequestIdEnv>().use(requestId());
      app.onError(errorHandler(log));
      app.get('/', () => {
        throw failure(code);
      });
      const answer = await app.request('/');
      expect([answer.status, await answer.json()]).toEqual([
        503,
        expect.objectContaining({ code: 'dependency_unavailable' }),
      ]);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(toStatus(failure(code), 'r', log).code).toBe(status.UNAVAILABLE);
    },
  );

  test('with SQLSTATE 23505 gets 500 over REST, and INTERNAL over gRPC (R-A5)', async () => {
    const app = new Hono<RequestIdEnv>().use(requestId());
    app.onError(errorHandler(log));
    app.get('/', () => {
      throw failure('23505');
    });
    expect((await app.request('/')).status).toBe(500);
    expect(toStatus(failure('23505'), 'r7', log)).toMatchObject({
      ...{ code: status.INTERNAL, details: expect.stringContaining('quote the request id r7 when') },
    });
  });
});
