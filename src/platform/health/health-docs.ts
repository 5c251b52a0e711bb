/** Describes `/health/live` and `/health/ready` (R-A9). */
import { z } from 'zod';
import { answersJson, OPEN, type Operation } from '../openapi/operation.ts';

const state = z.enum(['up', 'down']);
const readiness = z.enum(['up', 'degraded', 'down']);
const ready = z.object({ status: readiness, checks: z.record(z.string(), state) }).meta({ id: 'Health' });

const shared = { method: 'get', tag: 'Service', access: OPEN } as const;

export const HEALTH_OPERATIONS: readonly Operation[] = [
  {
    ...{ ...shared, path: '/health/live', operationId: 'isLive', summary: 'Check that the process answers' },
    answers: [answersJson('The process answers.', z.object({ status: z.literal('up') }))],
  },
  {
    ...{
      ...shared,
      path: '/health/ready',
      operationId: 'isReady',
      summary: 'Check that every part that this process requires responds and makes progress',
    },
    answers: [
      answersJson('Every required part is up; `degraded` means that an optional part is down.', ready),
      {
        ...answersJson('At least one required part is down; `checks` shows the state of every part.', ready),
        status: 503,
        headers: { 'Retry-After': 'Seconds to wait before the next request.' },
      },
    ],
  },
];
