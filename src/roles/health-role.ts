/**
 * Serves `/health/*` and `/metrics` on HEALTH_PORT, for any role (R-A9). The port is for the operator, not for clients.
 */
import { Hono } from 'hono';
import { metricsHandlers } from '../http/metrics-access.ts';
import { type HealthCheck, healthRoutes } from '../platform/health/health.ts';
import { listenHttp } from './http-listener.ts';
import { toListenError } from './listen-error.ts';
import type { Parts, Role } from './parts.ts';

export interface HealthRole extends Role {
  /** Address of the health server, as http://host:port. */
  readonly address: string;
}

/**
 * Starts a server for `/health/*` and `/metrics` on a port of its own (R-A9).
 * @throws the error of `toListenError`, when the server cannot listen on HEALTH_HOST and `port`.
 */
export async function startHealth(
  parts: Parts,
  port: number,
  checks: Readonly<Record<string, HealthCheck>>,
): Promise<HealthRole> {
  const { HEALTH_HOST: host, SHUTDOWN_TIMEOUT_MS } = parts.config;
  const listener = await listenHttp(host, port).catch((error: unknown) => {
    throw toListenError(error, { host, port, prefix: 'HEALTH' });
  });
  listener.serve(healthApp(parts, checks).fetch);
  return {
    address: `http://${host}:${listener.port}`,
    stop: () => listener.stop(SHUTDOWN_TIMEOUT_MS / 10),
  };
}

function healthApp({ config, metrics }: Parts, checks: Readonly<Record<string, HealthCheck>>): Hono {
  const { byToken, answer } = metricsHandlers(metrics, config.METRICS_TOKEN);
  const app = new Hono().route('/health', healthRoutes(checks)).get('/metrics', byToken);
  if (config.METRICS_TOKEN === undefined) return app.get('/metrics', answer);
  return app.get('/metrics', (c) => {
    c.header('WWW-Authenticate', 'Bearer realm="metrics"');
    const message =
      'the header Authorization must have the form Bearer <token>, where <token> is the value of the setting METRICS_TOKEN';
    return c.json({ code: 'invalid_token', message }, 401);
  });
}
