/** The calculator role: warm R processes in their sandbox, and the worker that passes runs to them. */
import { startCalculator } from '../calculation/calculator.ts';
import { openSandboxPool } from '../calculation/sandbox/pool.ts';
import { systemClock } from '../platform/clock.ts';
import type { HealthCheck } from '../platform/health/health.ts';
import type { Parts, Role } from './parts.ts';

/**
 * Delay before the first standby R process is started. Starting R takes 1.5 s of CPU time, which the other roles of
 * this process need while they start.
 */
const FIRST_STANDBY_DELAY_MS = 30_000;

export interface CalculatorRole extends Role {
  readonly healthChecks: Readonly<Record<string, HealthCheck>>;
}

/**
 * Starts R in its sandbox, and starts the worker that hands each run to R.
 * @throws {SandboxUnavailableError} when this machine cannot confine R in the way that the settings require (R-H7).
 */
export async function startCalculatorRole(parts: Parts): Promise<CalculatorRole> {
  const { config, log, metrics, database, dictionary, outbox, progress, queueOptions, calculationQueue } = parts;
  const sandbox = await openSandboxPool({ config, metrics, log, firstStandbyDelayMs: FIRST_STANDBY_DELAY_MS });
  const calculator = startCalculator({
    database,
    dictionary,
    sandbox,
    clock: systemClock,
    maxInputPoints: config.CALC_MAX_INPUT_POINTS,
    queue: calculationQueue,
    queueOptions,
    outbox,
    settings: {
      concurrency: config.CALC_CONCURRENCY,
      sweepIntervalMs: config.SWEEP_INTERVAL_MS,
      runRetentionDays: config.CALC_RUN_RETENTION_DAYS,
    },
    metrics,
    progress,
    log,
  });
  return {
    healthChecks: { r: { run: () => sandbox.checkHealth() } },
    stop: async () => {
      await calculator.stop(config.SHUTDOWN_TIMEOUT_MS / 4);
      await sandbox.close();
    },
  };
}
