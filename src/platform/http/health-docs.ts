/** The description of health (R-A9). */
import { z } from 'zod';
import { answersJson, OPEN, type Operation } from '../openapi/operation.ts';

const state = z.enum(['up', 'down']);
const ready = z.object({ status: state, checks: z.record(z.string(), state) }).meta({ id: 'Health' });

const shared = { method: 'get', tag: 'Service', access: OPEN } as const;

export const HEALTH_OPERATIONS: readonly Operation[] = [
  {
    ...{ ...shared, path: '/health/live', operationId: 'isLive', summary: 'Whether the process answers' },
    answers: [answersJson('It does.', z.object({ status: z.literal('up') }))],
  },
  {
    ...{ ...shared, path: '/health/ready', operationId: 'isReady', summary: 'Whether all it needs answers too' },
    answers: [
      answersJson('All of it.', ready),
      {
        ...answersJson('Something is down: `checks` say what.', ready),
        status: 503,
        headers: { 'Retry-After': 'Seconds to wait.' },
      },
    ],
  },
];
