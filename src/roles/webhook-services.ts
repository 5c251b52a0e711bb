/** Wires the routes of webhooks: administration, history and trial sends. */
import { writeAudit } from '../accounts/audit/audit.ts';
import type { AppParts } from '../http/create-app.ts';
import type { RateLimiter } from '../http/rate-limiter.ts';
import { webhookRoutes } from '../webhooks/administration/webhook-routes.ts';
import { historyRoutes } from '../webhooks/history/history-routes.ts';
import { trialRoutes } from '../webhooks/trial-sends/trial-routes.ts';
import type { Parts } from './parts.ts';

/** Builds the routes of webhooks, their history and their trial sends (§4.4). */
export function webhookServices(
  { config, database, webhookQueue, trialQueue, log }: Parts,
  limiter: RateLimiter,
): AppParts['api'] {
  const targetPolicy = { allowHttp: config.WEBHOOK_ALLOW_HTTP, allowedRanges: config.WEBHOOK_ALLOWED_RANGES };
  const secretOverlapHours = config.WEBHOOK_SECRET_OVERLAP_HOURS;
  const testsPerMinute = config.WEBHOOK_TESTS_PER_MINUTE;
  const countTrial = async (accountId: number) =>
    testsPerMinute === 0 ? 0 : limiter.count(`webhook-test:${accountId}`, testsPerMinute);
  const shared = { database, audit: writeAudit, log };
  return [
    ['/account', webhookRoutes({ ...shared, secretOverlapHours, targetPolicy })],
    ['/account', historyRoutes({ ...shared, queue: webhookQueue })],
    ['/account', trialRoutes({ ...shared, queue: trialQueue, targetPolicy, countTrial })],
  ];
}
