/**
 * Health routes (R-A9). `live`: the process answers. `ready`: all required parts answer and make
 * progress.
 */
import { Hono } from 'hono';

/** Check of one part of the service; `/health/ready` reports its result. */
export interface HealthCheck {
  /** Checks one part of the service. The promise rejects when this part does not work. */
  readonly run: () => Promise<unknown>;
  /**
   * True when the process also works without the part, but slower. While only such parts are down, readiness is
   * `degraded`, with status 200.
   */
  readonly isOptional?: boolean;
}

const CHECK_TIMEOUT_MS = 3000;

/** Routes `/live` and `/ready` (R-A9). They need no token and reveal only the state of each part. */
export function healthRoutes(checks: Readonly<Record<string, HealthCheck>>): Hono {
  return new Hono()
    .get('/live', (c) => c.json({ status: 'up' }))
    .get('/ready', async (c) => {
      const states = await Promise.all(
        Object.entries(checks).map(async ([name, check]) => ({ name, check, isUp: await isUp(check) })),
      );
      const down = states.filter((state) => !state.isUp);
      const isReady = down.every(({ check }) => check.isOptional);
      const body = {
        status: !isReady ? 'down' : down.length > 0 ? 'degraded' : 'up',
        checks: Object.fromEntries(states.map(({ name, isUp }) => [name, isUp ? 'up' : 'down'])),
      };
      if (!isReady) c.header('Retry-After', '2');
      return c.json(body, isReady ? 200 : 503);
    });
}

/** @returns true when the check succeeds within 3 s (R-A9). */
export async function isUp({ run }: HealthCheck): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS);
  });
  try {
    return await Promise.race([run().then(() => true), timeout]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
