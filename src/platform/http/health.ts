/** Health (R-A9): live says the process answers; ready says every part it needs answers too, and which does not. */
import { Hono } from 'hono';

/** Throws when the part does not work. */
export type HealthCheck = () => Promise<unknown>;

const CHECK_TIMEOUT_MS = 3000;

/** `/health/live` and `/health/ready`. Needs no token and tells nothing but up or down. */
export function healthRoutes(checks: Readonly<Record<string, HealthCheck>>): Hono {
  return new Hono()
    .get('/live', (c) => c.json({ status: 'up' }))
    .get('/ready', async (c) => {
      const states = await Promise.all(
        Object.entries(checks).map(async ([name, check]) => [name, (await isUp(check)) ? 'up' : 'down'] as const),
      );
      const isReady = states.every(([, state]) => state === 'up');
      const body = { status: isReady ? 'up' : 'down', checks: Object.fromEntries(states) };
      if (!isReady) c.header('Retry-After', '2');
      return c.json(body, isReady ? 200 : 503);
    });
}

/** Whether the part answers, and in time. */
export async function isUp(check: HealthCheck): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS);
  });
  try {
    return await Promise.race([check().then(() => true), timeout]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
