/**
 * Rules of fan-out and delivery whose tests need no database and no Redis: filters, retries, the circuit breaker, the
 * account semaphore, and the texts of the email about a webhook that the service disabled.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { openAccountSemaphore } from '../../../src/webhooks/delivery/account-semaphore.ts';
import { openCircuit } from '../../../src/webhooks/delivery/deliver-slice.ts';
import { disableReason, withoutQuery } from '../../../src/webhooks/delivery/disable-reason.ts';
import {
  isDown,
  planNextStep,
  planPause,
  planProbePause,
  planRepeat,
} from '../../../src/webhooks/delivery/retry-rules.ts';
import { type Occurrence, planMessages, toFilter } from '../../../src/webhooks/fan-out/filter-rules.ts';

const { WEBHOOK_RETRY_SEC } = readConfig({ DATABASE_URL: 'postgres://a@b/c', REDIS_URL: 'redis://a' });
const failed = { state: 'Failed', status: 500 } as const;
const next = (end: Parameters<typeof planNextStep>[0], attempt = 1, isReplay = false, chance = 0) =>
  planNextStep(end, attempt, isReplay, { delaysSec: WEBHOOK_RETRY_SEC }, chance);

describe('webhook delivery: next step after an attempt', () => {
  test('retries follow after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, then none (R-I3)', () => {
    const delays = Array.from({ length: 8 }, (_, index) => next(failed, index + 1));
    const [minute, hour] = [60_000, 3_600_000];
    const wanted = [5000, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour];
    expect(delays).toEqual([...wanted.map((delayMs) => ({ kind: 'retry', delayMs })), { kind: 'end' }]);
  });

  test('jitter adds at most 5 % to the delay of every retry except the first, which has no jitter (R-I3)', () => {
    expect(next(failed, 1, false, 0.99)).toEqual({ kind: 'retry', delayMs: 5000 });
    expect(next(failed, 2, false, 0.5)).toEqual({ kind: 'retry', delayMs: 307_500 });
    const longest = next(failed, 2, false, 1 - Number.EPSILON);
    expect(longest.kind === 'retry' && longest.delayMs).toBeLessThanOrEqual(315_000);
  });

  test('a success is not retried, nor is a failed replay (R-I3, R-I5)', () => {
    expect(next({ state: 'Succeeded', status: 204 })).toEqual({ kind: 'end' });
    expect(next(failed, 3, true)).toEqual({ kind: 'end' });
  });

  test('the status 410 disables the webhook after any attempt, even a replay (R-I3)', () => {
    const gone = { state: 'Failed', status: 410, retryAfterMs: 1000 } as const;
    expect([next(gone), next(gone, 8), next(gone, 2, true)]).toEqual(Array(3).fill({ kind: 'disable' }));
  });

  test('a retry waits for its back-off or for the time in Retry-After, whichever is longer; a Retry-After of more than a day counts as a day (R-I3)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: -1000, max: 200_000_000 }),
        (attempt, retryAfterMs) => {
          const step = next({ state: 'Failed', status: 503, retryAfterMs }, attempt);
          const plain = next(failed, attempt);
          if (step.kind !== 'retry' || plain.kind !== 'retry') return false;
          return step.delayMs === Math.max(plain.delayMs, Math.min(retryAfterMs, 86_400_000));
        },
      ),
    );
  });

  test.each([
    [429, 7000],
    [503, 7000],
    [500, 0],
    [200, 0],
  ])('an answer with status %i and a Retry-After of 7 s pauses the webhook for %i ms (R-I3)', (status, pauseMs) => {
    expect(planPause({ state: status === 200 ? 'Succeeded' : 'Failed', status, retryAfterMs: 7000 })).toBe(pauseMs);
  });
});

describe('webhook delivery: circuit of a receiver', () => {
  const openAfter = (isFailing: boolean, statuses: readonly (number | undefined)[]) => {
    const circuit = openCircuit(isFailing);
    for (const status of statuses) circuit.add({ state: status === 200 ? 'Succeeded' : 'Failed', status });
    return circuit.isOpen();
  };

  test.each([
    ['two failures in a row', 'open', false, [500, undefined]],
    ['one failure', 'closed', false, [503]],
    ['one failure of a receiver that failed before', 'open', true, [429]],
    ['two failures with a success between them', 'closed', false, [500, 200, 500]],
    ['three messages that the receiver refused', 'closed', false, [400, 404, 422]],
    ['two failures with a refused message between them', 'closed', false, [408, 400, 500]],
  ] as const)('after %s, the circuit is %s (R-I3)', (_, state, isFailing, statuses) => {
    expect(openAfter(isFailing, statuses)).toBe(state === 'open');
  });

  test('when a message is too large to send, the circuit neither opens nor is reset (R-I3)', () => {
    const tooLarge = { state: 'Failed', isTooLarge: true } as const;
    const circuit = openCircuit(true);
    for (let count = 0; count < 3; count += 1) circuit.add(tooLarge);
    expect([circuit.isOpen(), isDown(tooLarge)]).toEqual([false, false]);
    circuit.add(failed);
    expect(circuit.isOpen()).toBe(true);
  });

  test('after an internal error of the service, an attempt is repeated until the message is older than a day (R-A15)', () => {
    const HOUR = 3_600_000;
    expect([-5000, 0, 90_000, HOUR, 24 * HOUR, 24 * HOUR + 1].map(planRepeat)).toEqual([
      ...[60_000, 60_000, 90_000, HOUR, HOUR],
      undefined,
    ]);
  });

  test('the pause before a probe is the back-off of the failed attempt, but at most maxProbePauseMs (R-I3)', () => {
    const policy = { delaysSec: WEBHOOK_RETRY_SEC, maxProbePauseMs: 60_000 };
    const pauses = [1, 2, 7, 8, 20].map((attempt) => planProbePause(attempt, policy));
    expect(pauses).toEqual([5000, 60_000, 60_000, 60_000, 60_000]);
    expect(planProbePause(1, { ...policy, delaysSec: [] })).toBe(0);
  });
});

describe('webhook fan-out: filter', () => {
  const occurrence = (type: string, data: Occurrence['data']): Occurrence => ({
    ...{ accountId: 1, type, date: '2026-03-01T00:00:00Z', data },
  });
  const matches = (filter: Parameters<typeof toFilter>[0], type: string, data: Occurrence['data']) =>
    planMessages(toFilter(filter), occurrence(type, data), 1000).length === 1;

  test.each([
    ['SiteUpdated', { id: 1 }, { siteIds: [1] }, true],
    ['SiteUpdated', { id: 1 }, { sourceIds: [1], variableIds: [1] }, false],
    ['SourceUpdated', { id: 2, siteId: 1 }, { siteIds: [1] }, true],
    ['SourceUpdated', { id: 2, siteId: 3, formerSiteId: 1 }, { siteIds: [1] }, true],
    ['SourceDeleted', { id: 2, siteId: 1 }, { sourceIds: [2] }, true],
    ['SourceDeleted', { id: 2, siteId: 1 }, { siteIds: [2], variableIds: [2] }, false],
    ['VariableDeleted', { id: 3, sourceId: 2, siteId: 1 }, { variableIds: [9, 3] }, true],
    ['VariableUpdated', { id: 3, sourceId: 4, siteId: 1, formerSourceId: 2 }, { sourceIds: [2] }, true],
    ['VariableDeleted', { id: 3, sourceId: 2, siteId: 1 }, { variableIds: [2], sourceIds: [3] }, false],
    ['CalculationFailed', { variableId: 3, sourceId: 2, siteId: 1 }, { sourceIds: [2] }, true],
    ['CalculationFailed', { variableId: 3 }, { sourceIds: [2] }, false],
    ['CalculationForceUpdate', { siteId: 1, variables: [] }, { siteIds: [1] }, true],
    ['CalculationForceUpdate', { siteId: 1, variables: [] }, { siteIds: [2], variableIds: [1] }, false],
    ['UserCreated', { id: 'a' }, { siteIds: [1] }, false],
    ['UserCreated', { id: 'a' }, {}, true],
  ] as const)(
    'an event %s with the data %j, matched against the filter %j, gives %s (R-I1)',
    (type, data, filter, wanted) => {
      expect(matches(filter, type, data)).toBe(wanted);
    },
  );

  test('messages contain every matching variable once and in order, and each message has at most the maximum number of variables (R-I1)', () => {
    const ids = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1 });
    fc.assert(
      fc.property(ids, fc.option(ids), fc.integer({ min: 1, max: 7 }), (written, wanted, max) => {
        const variables = written.map((variableId) => ({ variableId, count: 1 }));
        const filter = wanted ? toFilter({ variableIds: wanted }) : undefined;
        const messages = planMessages(filter, occurrence('DataPointsWritten', { variables }), max);
        const parts = messages.map(({ data }) => data.variables as typeof variables);
        expect(parts.flat()).toEqual(variables.filter(({ variableId }) => !wanted || wanted.includes(variableId)));
        for (const part of parts) expect(part.length).toBeGreaterThan(0);
        for (const part of parts) expect(part.length).toBeLessThanOrEqual(max);
      }),
    );
  });
});

describe('webhooks: the email about a webhook that the service disabled', () => {
  test.each(['en', 'fr', 'nl', 'de'] as const)(
    'the reason in the email names the status 410 or the number of days without a success, in the language %s',
    (language) => {
      expect(disableReason({ kind: 'gone' }, language)).toContain('410');
      expect(disableReason({ kind: 'failing', days: 5 }, language)).toMatch(/\b5\b.*\.$/);
    },
  );

  test.each([
    ['https://a.example/hook?key=s3cret', 'https://a.example/hook'],
    ['https://user:s3cret@a.example/hook#s3cret', 'https://a.example/hook'],
    ['https://a.example/@us', 'https://a.example/@us'],
  ])('the email shows the URL %s as %s', (url, shown) => {
    expect(withoutQuery(url)).toBe(shown);
  });
});

test('webhook delivery: `leave()` returns the webhook that has waited longest for a permit of the account, if any (R-I3)', () => {
  const semaphore = openAccountSemaphore(2);
  expect(['a', 'b', 'c', 'c', 'd'].map((id) => semaphore.tryEnter(1, id))).toEqual([true, true, false, false, false]);
  expect(semaphore.tryEnter(2, 'e')).toBe(true);
  expect([semaphore.leave(1), semaphore.leave(1), semaphore.leave(2)]).toEqual(['c', 'd', undefined]);
  expect(['c', 'd'].map((id) => semaphore.tryEnter(1, id))).toEqual([true, true]);
});

test('webhook delivery: a permit that becomes free is reserved for the webhook that has waited longest for a permit; the reservation ends after one second (R-I3)', () => {
  let nowMs = 0;
  const semaphore = openAccountSemaphore(1, () => nowMs);
  expect(['a', 'b'].map((id) => semaphore.tryEnter(1, id))).toEqual([true, false]);
  expect(semaphore.leave(1)).toBe('b');
  // Webhook `c` asks for a permit before the wake-up of `b` has arrived.
  expect(['c', 'b'].map((id) => semaphore.tryEnter(1, id))).toEqual([false, true]);
  expect(semaphore.leave(1)).toBe('c');
  nowMs = 999;
  expect(semaphore.tryEnter(1, 'd')).toBe(false);
  nowMs = 1000;
  expect(semaphore.tryEnter(1, 'd')).toBe(true);
});
