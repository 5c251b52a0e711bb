/** Describes `/openapi.json`, `/docs` and `/metrics` (R-A9). */
import { z } from 'zod';
import { ADMINS, type Answer, OPEN, type Operation } from '../../platform/openapi/operation.ts';

const shared = { method: 'get', tag: 'Service', access: OPEN } as const;
const ETAG = { ETag: 'Send this value as `If-None-Match`; an unchanged resource answers 304.' };
const SAME: Answer = { status: 304, description: 'Unchanged.' };

export const SERVICE_OPERATIONS: readonly Operation[] = [
  {
    ...{ ...shared, path: '/openapi.json', operationId: 'getOpenApi', summary: 'Get this API description as OpenAPI' },
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
    ...{ ...shared, path: '/docs', operationId: 'getDocs', summary: 'Browse this API description' },
    answers: [{ status: 200, description: 'The page.', types: { 'text/html': z.string() }, headers: ETAG }, SAME],
  },
  {
    ...{
      ...shared,
      path: '/metrics',
      operationId: 'getMetrics',
      summary: 'Get metrics of this process for Prometheus',
    },
    description: 'A scraper may send the value of the setting METRICS_TOKEN as a bearer token.',
    access: ADMINS,
    answers: [
      { status: 200, description: 'Metrics in the text format of Prometheus.', types: { 'text/plain': z.string() } },
    ],
  },
];
