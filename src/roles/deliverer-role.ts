/** The deliverer role: sends webhook messages and webhook tests, only to allowed addresses (R-I3, R-I4). */
import { openDatabaseClock } from '../platform/database/database-clock.ts';
import { startDeliverer } from '../webhooks/delivery/deliverer.ts';
import { openSecretVault } from '../webhooks/secret-vault.ts';
import { openSender } from '../webhooks/sending/send-message.ts';
import { startTrialSender } from '../webhooks/trial-sends/trial-sender.ts';
import { createWebhookMetrics } from '../webhooks/webhook-metrics.ts';
import type { Parts, Role } from './parts.ts';

/** Starts the delivery of webhook messages and webhook tests (R-I3, R-I7). */
export async function startDelivererRole(parts: Parts): Promise<Role> {
  const { config, database, log, metrics, outbox, progress, queueOptions, webhookQueue, trialQueue } = parts;
  const clock = await openDatabaseClock(database, log);
  const sender = openSender({
    allowHttp: config.WEBHOOK_ALLOW_HTTP,
    allowedRanges: config.WEBHOOK_ALLOWED_RANGES,
    timeoutMs: config.WEBHOOK_TIMEOUT_MS,
    clock,
  });
  const vault = openSecretVault(config.WEBHOOK_KEYS);
  const deliverer = startDeliverer({
    database,
    vault,
    send: sender.send,
    queue: webhookQueue,
    queueOptions,
    outbox,
    metrics: createWebhookMetrics(metrics),
    settings: {
      concurrency: config.WEBHOOK_CONCURRENCY,
      parallel: config.WEBHOOK_PARALLEL,
      retryDelaysSec: config.WEBHOOK_RETRY_SEC,
      maxProbePauseMs: config.WEBHOOK_PROBE_MS,
      disableAfterDays: config.WEBHOOK_DISABLE_AFTER_DAYS,
      historyDays: config.WEBHOOK_HISTORY_DAYS,
      sweepIntervalMs: config.SWEEP_INTERVAL_MS,
    },
    progress,
    log,
  });
  const trialSender = startTrialSender({
    database,
    vault,
    send: sender.send,
    queue: trialQueue,
    queueOptions,
    settings: { sweepIntervalMs: config.SWEEP_INTERVAL_MS },
    progress,
    log,
  });
  return {
    stop: async () => {
      const graceMs = config.SHUTDOWN_TIMEOUT_MS / 4;
      await Promise.all([deliverer.stop(graceMs), trialSender.stop(graceMs), clock.stop()]);
      sender.close();
    },
  };
}
