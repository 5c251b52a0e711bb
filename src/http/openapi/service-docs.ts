/** The description of the description, and of metrics (R-A9). */
import { z } from 'zod';
import { ADMINS, type Answer, OPEN, type Operation } from '../../platform/openapi/operation.ts';

const shared = { method: 'get', tag: 'Service', access: OPEN } as const;
const ETAG = { ETag: 'Send it as `If-None-Match` to ask whether it is still the same.' };
const SAME: Answer = { status: 304, description: 'It is still the same.' };

export const SERVICE_OPERATIONS: readonly Operation[] = [
  {
    ...{ ...shared, path: '/openapi.json', operationId: 'getOpenApi', summary: 'This description, for programs' },
    answers: [
      {
        status: 200,
        description: 'An OpenAPI 3.1 document.',
        types: { 'application/json': z.record(z.string(), z.unknown()) },
        headers: ETAG,
      },
      SAME,
    ],
  },
  {
    ...{ ...shared, path: '/docs', operationId: 'getDocs', summary: 'This description, for people' },
    answers: [{ status: 200, description: 'A page.', types: { 'text/html': z.string() }, headers: ETAG }, SAME],
  },
  {
    ...{ ...shared, path: '/metrics', operationId: 'getMetrics', summary: 'What this process does, for Prometheus' },
    description: 'A scraper shows the token of the setting METRICS_TOKEN instead.',
    access: ADMINS,
    answers: [{ status: 200, description: 'Metrics.', types: { 'text/plain': z.string() } }],
  },
];
