/** An error that names a failed dependency is logged with its cause; the client does not get the cause (R-A5, R-K4). */
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { toStatus } from '../../../src/grpc/status.ts';
import { errorHandler } from '../../../src/http/error-response.ts';
import { DomainError } from '../../../src/platform/errors.ts';
import { type RequestIdEnv, requestId } from '../../../src/platform/http/request-id.ts';
import { createLog } from '../../../src/platform/log.ts';

test('errors: a DomainError with a cause is logged with the request id, and the cause is not sent; a DomainError without a cause is not logged', async () => {
  const lines: object[] = [];
  const warn = (fields: object, message: string) => lines.push({ ...fields, message });
  const log = Object.assign(createLog('silent', 'test'), { warn });
  const app = new Hono<RequestIdEnv>().use(requestId());
  app.onError(errorHandler(log));
  const failure = new DomainError('dependency_unavailable', 'the issuer failed');
  app.get('/', () => {
    throw failure;
  });
  await app.request('/');
  toStatus(failure, 'r-8', log);
  expect(lines).toEqual([]);
  failure.cause = new Error('the reason');
  const answer = await app.request('/', { headers: { 'x-request-id': 'r-7' } });
  expect(await answer.text()).not.toContain('the reason');
  expect(toStatus(failure, 'r-8', log).details).toBe('the issuer failed');
  expect(lines).toEqual([
    { err: failure, requestId: 'r-7', message: expect.stringContaining('a request failed because of a dependency') },
    { err: failure, requestId: 'r-8', message: expect.stringContaining('a call failed because of a dependency') },
  ]);
});
