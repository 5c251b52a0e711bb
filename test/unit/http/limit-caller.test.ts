import { Hono, type MiddlewareHandler } from 'hono';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { errorHandler } from '../../../src/http/error-response.ts';
import { paceRefusals } from '../../../src/http/paced-refusals.ts';
import { limitCaller } from '../../../src/http/rate-limit.ts';
import { openUserBudget } from '../../../src/http/user-budget.ts';
import type { CallerEnv } from '../../../src/identity/authentication/authenticate.ts';
import type { Caller } from '../../../src/identity/caller/caller.ts';
import type { RequestIdEnv } from '../../../src/platform/http/request-id.ts';
import { createLog } from '../../../src/platform/log.ts';

/** Makes an app whose user `greedy` has used up the budget of requests. */
function openApp() {
  const limiter = paceRefusals({
    count: async (key) => (key === 'user:greedy' ? 5000 : 0),
    countInMemory: () => false,
    isHalfFree: () => false,
    close: () => {},
  });
  const limits = { limiter, users: openUserBudget(limiter, 6000), tokenPerMinute: 0, proxyHops: 0 };
  const app = new Hono<RequestIdEnv>();
  app.onError(errorHandler(createLog('silent', 'test')));
  const identify: MiddlewareHandler<CallerEnv> = async (c, next) => {
    c.set('caller', { userId: c.req.header('x-user') } as Caller);
    await next();
  };
  app.use('*', identify, limitCaller(limits));
  app.get('/', (c) => c.text('ok'));
  return (userId: string) => app.request('/', { headers: { 'x-user': userId } });
}

describe('http: rate limit of a user', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('when a refused user sends many more requests, the answers are delayed and the last has `Connection: close`, but another user is not delayed (R-B15, R-A14)', async () => {
    const request = openApp();
    const first = await request('greedy');
    expect([first.status, first.headers.get('retry-after'), first.headers.get('connection')]).toEqual([429, '5', null]);
    expect(await first.json()).toMatchObject({
      message:
        'a user may make at most 6000 requests per minute; ten pushes count as one request, or less; retry after 5 s',
    });
    let refused = 0;
    const flood = Array.from({ length: 250 }, async () => {
      const answer = await request('greedy');
      refused += 1;
      return answer;
    });
    expect((await request('other')).status).toBe(200);
    expect(refused).toBeLessThanOrEqual(50);
    await vi.advanceTimersByTimeAsync(2000);
    const answers = await Promise.all(flood);
    expect(answers.every(({ status }) => status === 429)).toBe(true);
    expect(answers.at(-1)?.headers.get('connection')).toBe('close');
  });
});
