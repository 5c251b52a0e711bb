/** What HEALTH_PORT answers, for every role: `/health/*` and `/metrics` (R-A9). The port is the operator's. */
import { Hono } from 'hono';
import { metricsDoor } from '../http/metrics-door.ts';
import { type HealthCheck, healthRoutes } from '../platform/http/health.ts';
import type { Parts } from './parts.ts';

export function healthApp(
  { config, metrics }: Pick<Parts, 'config' | 'metrics'>,
  checks: Readonly<Record<string, HealthCheck>>,
): Hono {
  const { byToken, answer } = metricsDoor(metrics, config.METRICS_TOKEN);
  const app = new Hono().route('/health', healthRoutes(checks)).get('/metrics', byToken);
  if (config.METRICS_TOKEN === undefined) return app.get('/metrics', answer);
  return app.get('/metrics', (c) => {
    c.header('WWW-Authenticate', 'Bearer realm="metrics"');
    return c.json({ code: 'invalid_token', message: 'this needs a header Authorization: Bearer <METRICS_TOKEN>' }, 401);
  });
}
