import { status as GrpcStatus } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerClient } from '../../../src/accounts/clients/client-store.ts';
import { paceRefusals } from '../../../src/http/paced-refusals.ts';
import { openRateLimiter, type RateLimiter } from '../../../src/http/rate-limiter.ts';
import { openUserBudget } from '../../../src/http/user-budget.ts';
import { openAccessInvalidation } from '../../../src/identity/caller/access-invalidation.ts';
import { createCallerCache } from '../../../src/identity/caller/find-caller.ts';
import { TOKEN_EXCHANGE_GRANT } from '../../../src/identity/issuer/grants/token-exchange.ts';
import { checkInTurn } from '../../../src/identity/passwords/password-checks.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createGrpcReader } from '../../support/clients/grpc-client.ts';
import { createTestClient, requestToken } from '../../support/clients/test-client.ts';
import { eventually } from '../../support/eventually.ts';
import { passwordGrant } from '../../support/fixtures/accounts.ts';
import { addPerson, signInPerson, userIdOf } from '../../support/fixtures/people.ts';
import { createStructure } from '../../support/fixtures/structure.ts';
import { createTestQueuePrefix, testRedisUrl } from '../../support/services/stack.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const LOG = createLog('silent', 'test');

/** Waits until both limiters are connected to Redis, so that limiter `two` sees the counts of limiter `one`. */
async function connected(one: RateLimiter, two: RateLimiter): Promise<void> {
  await eventually('both limiters', async () => {
    const key = `probe ${Math.random()}`;
    await one.count(key, 1);
    return (await two.count(key, 1)) > 0;
  });
}

describe('identity: access invalidation', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi({ ACCESS_CACHE_SEC: '30' });
  });
  afterAll(() => api.close());

  it('locking and unlocking a user take effect immediately in the process that made the change, despite the cache (R-B5)', async () => {
    const user = await api.signIn('una', 'USER');
    const id = await userIdOf(api, 'una');
    expect((await user.get('/account')).status).toBe(200);
    await api.manager.post(`/account/user/${id}/lock`, { isLocked: true });
    expect((await user.get('/account')).status).toBe(401);
    await api.manager.post(`/account/user/${id}/lock`, { isLocked: false });
    expect((await user.get('/account')).status).toBe(200);
  });

  it('locking an impersonating ADMIN ends the impersonation immediately (R-B5, R-B14)', async () => {
    const ada = await addPerson(api, 'ada', { role: 'ADMIN' });
    await addPerson(api, 'root', { role: 'ADMIN' });
    await registerClient(api.database, {
      ...{ clientId: 'support', secret: 's', scopes: ['datahub-api'], grantTypes: [TOKEN_EXCHANGE_GRANT] },
    });
    const acting = createTestClient(
      api.origin,
      await requestToken(api.origin, {
        ...{ grant_type: TOKEN_EXCHANGE_GRANT, client_id: 'support', client_secret: 's', requested_subject: 'una' },
        subject_token: (await signInPerson(api, 'ada')).token ?? '',
      }),
    );
    expect((await acting.get('/account')).status).toBe(200);
    await (await signInPerson(api, 'root')).post(`/account/user/${ada}/lock`, { isLocked: true });
    expect((await acting.get('/account')).status).toBe(401);
  });

  it('an invalidation reaches the cache of another process through Redis (R-B5)', async () => {
    const { config, authentication } = api.parts;
    const elsewhere = createCallerCache({ database: api.database, cacheSec: 30 });
    let isListening = false;
    const invalidation = openAccessInvalidation({
      ...{ redisUrl: config.REDIS_URL, prefix: config.QUEUE_PREFIX, log: LOG },
      onChange: (userIds) => {
        isListening = true;
        elsewhere.invalidate(userIds);
      },
    });
    try {
      const id = await addPerson(api, 'zed', { role: 'MANAGER' });
      const client = await signInPerson(api, 'zed');
      const token = await authentication.verifier(client.token ?? '');
      await eventually('the subscription', async () => isListening);
      expect((await elsewhere(token)).role).toBe('MANAGER');
      await api.database.query(`update app_user set role = 'USER' where id = $1`, [id]);
      expect((await elsewhere(token)).role).toBe('MANAGER');
      await eventually('the invalidation', async () => {
        await api.parts.accessInvalidation.publish([id]);
        return (await elsewhere(token)).role === 'USER';
      });
    } finally {
      invalidation.close();
    }
  });

  it('when an invalidation cannot be sent to other processes, the log names the invalidated users (R-B5)', async () => {
    const lines: object[] = [];
    const warn = (fields: object, message: string) => lines.push({ ...fields, message });
    const log = Object.assign(createLog('silent', 'test'), { warn });
    const invalidation = openAccessInvalidation({
      ...{ redisUrl: 'redis://127.0.0.1:1', prefix: 'away', log },
      onChange: () => {},
    });
    await invalidation.publish(['u-1']);
    invalidation.close();
    const message = expect.stringContaining('an access change could not be sent to other processes');
    expect(lines).toContainEqual({ err: expect.any(Error), users: 1, userIds: ['u-1'], message });
  });

  it('when a caller is invalidated while being looked up in the database, the result of the lookup is not cached (R-B5)', async () => {
    const id = await addPerson(api, 'slow', { role: 'MANAGER' });
    const client = await signInPerson(api, 'slow');
    const token = await api.parts.authentication.verifier(client.token ?? '');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let queries = 0;
    const database = {
      query: async (...args: Parameters<typeof api.database.query>) => {
        queries++;
        const answer = await api.database.query(...args);
        if (queries === 1) await released;
        return answer;
      },
    } as unknown as typeof api.database;
    const callers = createCallerCache({ database, cacheSec: 30 });
    const early = callers(token);
    await eventually('the first query', async () => queries === 1);
    await api.database.query(`update app_user set role = 'USER' where id = $1`, [id]);
    callers.invalidate([id]);
    release();
    await early;
    expect((await callers(token)).role).toBe('USER');
  });
});

describe('identity: rate limits', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi({ API_RATE_PER_MINUTE: '5', TOKEN_RATE_PER_MINUTE: '8', PROXY_HOPS: '1' });
  });
  afterAll(() => api.close());

  it('the API limits each user separately; a request over the limit gets 429 with Retry-After (R-B15)', async () => {
    const statuses = [];
    for (let request = 1; request <= 6; request++) statuses.push((await api.manager.get('/account')).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    const refused = await api.manager.get('/account');
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited', requestId: expect.any(String) } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(12);
    expect((await api.stranger.get('/account')).status).toBe(200);
  });

  it('REST, push and gRPC share one budget per user; a push counts as a tenth of a request (R-B15, R-A14)', async () => {
    const user = await api.signIn('one-budget', 'MANAGER');
    const other = await api.signIn('other-budget', 'MANAGER');
    const { variableId } = await createStructure(user);
    const push = () => user.post('/api/data', [{ variableId, data: [] }]);
    const reader = createGrpcReader(api.grpcAddress, user.token);
    try {
      // Creating the structure has used three of the five requests that the user may make per minute.
      expect((await user.get('/account')).status).toBe(200);
      const pushes = await Promise.all(Array.from({ length: 9 }, push));
      expect(pushes.map(({ status }) => status)).toEqual(Array(9).fill(200));
      const refused = await reader.refusalOf({ variableIds: [variableId] }, 'ReadLast');
      expect(refused).toMatchObject({
        code: GrpcStatus.RESOURCE_EXHAUSTED,
        message: expect.stringContaining('retry after'),
      });
      const later = await Promise.all(Array.from({ length: 20 }, push));
      const last = later.find(({ status }) => status === 429);
      expect(last).toMatchObject({ body: { code: 'rate_limited' } });
      expect(Number(last?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect((await other.get('/account')).status).toBe(200);
    } finally {
      reader.close();
    }
  });

  it('a token request gets 429 when too many password checks from the client’s network are already waiting (R-B11, R-B15)', async () => {
    const network = '192.0.2.6';
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const checks = Array.from({ length: 251 }, () => checkInTurn(network, () => ended));
    const refused = await fetch(api.origin + TOKEN, {
      method: 'POST',
      headers: { 'x-forwarded-for': network },
      body: new URLSearchParams(passwordGrant('nobody')),
    });
    end();
    await Promise.all(checks);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable', code: 'rate_limited' });
  });

  it('Redis adds up the counts that processes keep in memory, so that every process sees the sum; without Redis, a process counts alone (R-B15)', async () => {
    const options = { redisUrl: testRedisUrl(), prefix: createTestQueuePrefix(), log: LOG };
    const [one, two] = [openRateLimiter(options), openRateLimiter(options)];
    try {
      await connected(one, two);
      // Half of the budget of 20 is used in Redis, by 10 requests of cost 1, and half in memory, by 100 of cost 0.1.
      for (let count = 0; count < 10; count += 1) expect(await one.count('k', 20)).toBe(0);
      for (let count = 0; count < 100; count += 1) expect(two.countInMemory('k', 20, 0.1)).toBe(true);
      await eventually('the settlement', async () => (await one.count('k', 20)) > 0);
      await eventually('the answer', async () => !two.countInMemory('k', 20, 0.1));
      const away = openRateLimiter({ ...options, redisUrl: 'redis://127.0.0.1:1' });
      const passed = Array.from({ length: 30 }, () => away.countInMemory('k', 20, 1)).filter(Boolean);
      expect(passed).toHaveLength(20);
      expect(await away.count('k', 20)).toBeGreaterThan(0);
      away.close();
    } finally {
      for (const limiter of [one, two]) limiter.close();
    }
  });

  it("when one process has accepted all requests of a user's budget, another process accepts at most half as many (R-B15)", async () => {
    const options = { redisUrl: testRedisUrl(), prefix: createTestQueuePrefix(), log: LOG };
    const limiters = [openRateLimiter(options), openRateLimiter(options)] as const;
    const [one, two] = limiters.map((limiter) => openUserBudget(paceRefusals(limiter), 20));
    try {
      await connected(...limiters);
      const counted = await Promise.all(Array.from({ length: 21 }, () => one?.count('u')));
      expect(counted.filter((waitMs) => waitMs === 0)).toHaveLength(20);
      let passed = 0;
      await eventually('the other process to refuse', async () => {
        const waitMs = (await two?.count('u')) ?? 0;
        if (waitMs === 0) passed += 1;
        return waitMs > 0;
      });
      expect(passed).toBeLessThanOrEqual(10);
    } finally {
      for (const limiter of limiters) limiter.close();
    }
  });

  const post = (path: string, from: string) =>
    fetch(api.origin + path, {
      method: 'POST',
      headers: { 'x-forwarded-for': from },
      body: new URLSearchParams({ grant_type: 'password' }),
    });
  const TOKEN = '/realms/tidemark/protocol/openid-connect/token';
  const statusesOf = async (path: string, from: (n: number) => string) => {
    const statuses = [];
    for (let request = 1; request <= 9; request++) statuses.push((await post(path, from(request))).status);
    return statuses;
  };

  it('behind one proxy, the limit on token requests applies to the last address in `X-Forwarded-For` (R-B15)', async () => {
    // Addresses that the client prepends to X-Forwarded-For have no effect.
    const statuses = await statusesOf(TOKEN, (n) => `10.0.0.${n}, 192.0.2.1`);
    expect(statuses.slice(0, 8)).toEqual(Array(8).fill(401));
    expect(statuses[8]).toBe(429);
    expect((await post(TOKEN, '192.0.2.2')).status).toBe(401);
    const refused = await post(TOKEN, '192.0.2.1');
    expect(refused.headers.get('retry-after')).toMatch(/^[1-8]$/);
    expect(await refused.json()).toMatchObject({
      message: expect.stringMatching(/^one network .* at most 8 times per minute; retry after [1-8] s$/),
    });
  });

  it('the limit on token requests also counts registrations by invitation and requests to a realm alias (R-B15)', async () => {
    const alias = await statusesOf('//realms/opinum//protocol/openid-connect/token/', () => '192.0.2.3');
    expect(alias[8]).toBe(429);
    const invitations = await statusesOf('/account/user/register?invitationToken=x', () => '192.0.2.4');
    expect(invitations.slice(0, 8)).toEqual(Array(8).fill(404));
    expect(invitations[8]).toBe(429);
  });

  it('GET requests do not count towards the limit on token requests (R-B15)', async () => {
    for (let request = 1; request <= 12; request++) {
      const path = '/realms/tidemark/protocol/openid-connect/certs';
      const keys = await fetch(api.origin + path, { headers: { 'x-forwarded-for': '192.0.2.5' } });
      expect(keys.status).toBe(200);
    }
  });

  it('requests are counted for all processes together, and per process while Redis is down (R-B15)', async () => {
    const options = { redisUrl: testRedisUrl(), prefix: createTestQueuePrefix(), log: LOG };
    const [one, two] = [openRateLimiter(options), openRateLimiter(options)];
    const away = openRateLimiter({ ...options, redisUrl: 'redis://127.0.0.1:1' });
    try {
      await connected(one, two);
      expect(await one.count('k', 2)).toBe(0);
      expect(await two.count('k', 2)).toBe(0);
      expect(await one.count('k', 2)).toBeGreaterThan(29_000);
      expect([await away.count('k', 1), (await away.count('k', 1)) > 0]).toEqual([0, true]);
    } finally {
      for (const limiter of [one, two, away]) limiter.close();
    }
  });

  it('a limit of 0 means no limit (R-B15)', async () => {
    const free = await startTestApi({ API_RATE_PER_MINUTE: '0', TOKEN_RATE_PER_MINUTE: '0' });
    try {
      for (let request = 1; request <= 20; request++) expect((await free.manager.get('/account')).status).toBe(200);
      expect((await createTestClient(free.origin).post(TOKEN, undefined)).status).not.toBe(429);
    } finally {
      await free.close();
    }
  });
});
