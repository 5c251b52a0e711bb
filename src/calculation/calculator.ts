/** The calculator role: runs variables when woken; a sweeper finds requests whose wake-up was lost. */

import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { OutboxRelay } from '../platform/database/outbox.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import type { Progress } from '../platform/progress.ts';
import { openWakeWorker, type QueueOptions, type WakeQueue } from '../platform/queue.ts';
import { startSweeper } from '../platform/sweep.ts';
import { PREVIEW_KEY } from './authoring/ask-calculator.ts';
import { createPreviewer } from './authoring/previewer.ts';
import { createCalculationMetrics } from './calculation-metrics.ts';
import { findDueVariables } from './run/claim-run.ts';
import { type RunServices, runCalculation } from './run/run-calculation.ts';
import { fireSchedules } from './schedule/schedules.ts';

/** Queue whose keys are variable ids. */
export const CALCULATION_QUEUE = 'calculation';

const PURGE_INTERVAL_MS = 600_000;
const RUNS_PER_STATEMENT = 5000;
const MILLIS_PER_DAY = 86_400_000;

const PURGE = `
  delete from calculation_run where id in (
    select id from calculation_run where finished_date < $1 order by finished_date limit $2)`;

export interface CalculatorServices extends RunServices {
  readonly queue: WakeQueue;
  readonly queueOptions: QueueOptions;
  readonly outbox: OutboxRelay;
  readonly settings: {
    readonly concurrency: number;
    readonly sweepIntervalMs: number;
    /** Days after which ended runs are deleted (R-H8). */
    readonly runRetentionDays: number;
  };
  readonly metrics: Metrics;
  readonly progress?: Progress;
  readonly log: Log;
}

export interface Calculator {
  /** Takes no more runs, waits up to `graceMs` for those under way, then hands them back (R-K2). */
  stop(graceMs: number): Promise<void>;
}

/** `wait`, `load`, … → `waitMs`, `loadMs`, … */
function toWholeMs(durations: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(durations).map(([name, ms]) => [`${name}Ms`, Math.round(ms * 10) / 10]));
}

/** Starts the worker, the sweeper of requests and schedules, and the purge of old runs. */
export function startCalculator(services: CalculatorServices): Calculator {
  const { queue, queueOptions, outbox, settings, log } = services;
  const metrics = createCalculationMetrics(services.metrics);
  const stopping = new AbortController();
  // Previews leave one slot to runs, where there is more than one.
  const previews = createPreviewer(services, Math.max(1, settings.concurrency - 1), stopping.signal);
  const handle = async (key: string): Promise<void> => {
    if (key.startsWith(PREVIEW_KEY)) return previews.answer(Number(key.slice(PREVIEW_KEY.length)));
    const result = await runCalculation(services, Number(key), stopping.signal);
    if (result.kind !== 'ended') return;
    const { run, report } = result;
    metrics.runEnded(report);
    const { id: runId, requestId, variableId, accountId } = run;
    const fields = { requestId, runId, variableId, accountId, ...toWholeMs(report.durations) };
    log.info({ ...fields, outcome: report.outcome, counts: report.counts }, 'calculation ended');
    await outbox.relay();
    // One run per turn: a variable that is requested again by every run must not delay the others, or a stop.
    await queue.wake([key]);
  };
  const sweep = async (): Promise<void> => {
    await fireSchedules(services.database, services.clock);
    const previewKeys = await previews.findWaiting();
    const due = await findDueVariables(services.database);
    await worker.sweep([...previewKeys, ...due.map(String)]);
    await outbox.relay();
  };
  const worker = openWakeWorker(CALCULATION_QUEUE, queue, settings.concurrency, handle, queueOptions);
  const sweeper = startSweeper(CALCULATION_QUEUE, settings.sweepIntervalMs, sweep, log, services.progress);
  const purge = () => purgeRuns(services.database, services.clock, settings.runRetentionDays);
  const purger = startSweeper('calculation runs', PURGE_INTERVAL_MS, purge, log);
  return {
    stop: async (graceMs) => {
      const timer = setTimeout(() => stopping.abort(new Error('the calculator stops')), graceMs);
      await Promise.all([worker.close(), sweeper.stop(), purger.stop()]);
      clearTimeout(timer);
    },
  };
}

/** Deletes runs that ended before the retention period (R-H8), in small batches. */
export async function purgeRuns(database: Database, clock: Clock, retentionDays: number): Promise<void> {
  const before = new Date(clock.nowMillis() - retentionDays * MILLIS_PER_DAY).toISOString();
  for (;;) {
    const { rowCount } = await database.query(PURGE, [before, RUNS_PER_STATEMENT]);
    if ((rowCount ?? 0) < RUNS_PER_STATEMENT) return;
  }
}
