/** Describes `/openapi.json`, `/docs` and `/metrics` (R-A9). */
import { z } from 'zod';
import { ADMINS, type Answer, OPEN, type Operation } from '../../platform/openapi/operation.ts';

const shared = { method: 'get', tag: 'Service', access: OPEN } as const;
const ETAG = {
  ETag: 'Send this value in the header `If-None-Match`; the answer is 304 while the resource is unchanged.',
};
const SAME: Answer = { status: 304, description: 'Unchanged.' };

export const SERVICE_OPERATIONS: readonly Operation[] = [
  {
    ...{
      ...shared,
      path: '/openapi.json',
      operationId: 'getOpenApi',
      summary: 'Get this API description as an OpenAPI document',
    },
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
      summary: 'Get the metrics of this process in the Prometheus format',
    },
    description:
      'Instead of an access token, a scraper may send the value of the setting METRICS_TOKEN as the bearer token.',
    access: ADMINS,
    answers: [
      { status: 200, description: 'Metrics in the text format of Prometheus.', types: { 'text/plain': z.string() } },
    ],
  },
];
