/**
 * The calculator role. A turn is a variable to run or a preview to answer. Redis tells the calculator which turns wait.
 * The calculator performs them in the order of its fair queue. A sweeper fires schedules and finds turns whose wake-up
 * was lost. A purge deletes old runs.
 */

import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { OutboxRelay } from '../platform/database/outbox.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import type { Progress } from '../platform/progress.ts';
import { type MemberQueue, openWakeWorker, type QueueOptions } from '../platform/queue.ts';
import { startSweeper } from '../platform/sweep.ts';
import { answerPreview, findWaitingPreviews } from './authoring/answer-preview.ts';
import { type CalculationMetrics, createCalculationMetrics } from './calculation-metrics.ts';
import { findDueTurns, findTurnsOf } from './run/claim-run.ts';
import { type RunServices, runCalculation } from './run/run-calculation.ts';
import { fireSchedules } from './schedule/schedules.ts';
import { openDispatcher } from './turns/dispatcher.ts';
import type { Turn } from './turns/fair-queue.ts';
import { openTurnTaker, wakeTurns } from './turns/turn-wake-ups.ts';

const PURGE_INTERVAL_MS = 600_000;
/** Maximum number of queue keys whose members the worker takes from Redis at the same time. */
const TAKERS = 4;
const RUNS_PER_STATEMENT = 5000;
const MILLIS_PER_DAY = 86_400_000;

const PURGE = `
  delete from calculation_run where id in (
    select id from calculation_run where finished_date < $1 order by finished_date limit $2)`;

export interface CalculatorServices extends RunServices {
  /**
   * Queue of wake-ups. Each key combines an account and an urgency. The members of a key are ids of variables or of
   * previews.
   */
  readonly queue: MemberQueue;
  readonly queueOptions: QueueOptions;
  readonly outbox: OutboxRelay;
  readonly settings: {
    readonly concurrency: number;
    readonly sweepIntervalMs: number;
    /** Number of days for which a run is kept after its end (R-H8). */
    readonly runRetentionDays: number;
  };
  readonly metrics: Metrics;
  readonly progress?: Progress;
  readonly log: Log;
}

export interface Calculator {
  /**
   * Starts no more turns, and waits up to `graceMs` for the current turns. Then aborts the current turns, and requeues
   * the aborted and the waiting turns (R-K2).
   */
  stop(graceMs: number): Promise<void>;
}

/** Appends `Ms` to each name (`wait` becomes `waitMs`), and rounds each duration to tenths of a millisecond. */
function toLoggedMs(durations: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(durations).map(([name, ms]) => [`${name}Ms`, Math.round(ms * 10) / 10]));
}

/**
 * Starts three tasks: the worker takes wake-ups from the queue; the sweeper finds due requests, due schedules and
 * waiting previews in the database; the purge deletes old runs.
 */
export function startCalculator(services: CalculatorServices): Calculator {
  const { queue, queueOptions, outbox, settings, log } = services;
  const metrics = createCalculationMetrics(services.metrics);
  const perform = async (turn: Turn, signal: AbortSignal): Promise<void> => {
    await taker.takeMore(turn.accountId);
    // After a run, queues the due turns of the same variable. If `signal` aborted a preview, queues the preview again.
    dispatcher.add(await performTurn(services, metrics, turn, signal));
  };
  const dispatcher = openDispatcher({ slots: settings.concurrency, perform, log });
  const taker = openTurnTaker(queue, dispatcher);
  const sweep = async (): Promise<void> => {
    await fireSchedules(services.database, services.clock);
    const turns = [...(await findWaitingPreviews(services.database)), ...(await findDueTurns(services.database))];
    // If Redis is unreachable, this calculator itself queues the turns that the sweep found.
    if (!(await wakeTurns(queue, turns))) dispatcher.add(turns);
    await outbox.relay();
  };
  const worker = openWakeWorker(queue, TAKERS, taker.take, queueOptions);
  const sweeper = startSweeper(queue.name, settings.sweepIntervalMs, sweep, log, services.progress);
  const purge = () => purgeRuns(services.database, services.clock, settings.runRetentionDays);
  const purger = startSweeper('calculation runs', PURGE_INTERVAL_MS, purge, log);
  return {
    stop: async (graceMs) => {
      const stopped = dispatcher.stop(graceMs);
      await Promise.all([worker.close(), sweeper.stop(), purger.stop()]);
      await wakeTurns(queue, await stopped);
    },
  };
}

/**
 * Performs one turn: a run or a preview.
 * @returns the turns to queue next: after a run, one turn for each due request of the run's variable; after a preview
 *   that `signal` aborted, the same turn again.
 */
async function performTurn(
  services: CalculatorServices,
  metrics: CalculationMetrics,
  turn: Turn,
  signal: AbortSignal,
): Promise<readonly Turn[]> {
  const { database, outbox, log } = services;
  if (turn.urgency === 'preview') {
    return answerPreview(services, turn.id, signal).then(
      () => [],
      (error: unknown) => {
        if (signal.aborted) return [turn];
        throw error;
      },
    );
  }
  const result = await runCalculation(services, turn.id, signal);
  if (result.kind !== 'ended') return [];
  const { run, report } = result;
  metrics.runEnded(report);
  const { id: runId, requestId, variableId, accountId } = run;
  const fields = { requestId, runId, variableId, accountId, ...toLoggedMs(report.durations) };
  log.info({ ...fields, outcome: report.outcome, counts: report.counts }, 'calculation ended');
  await outbox.relay();
  return findTurnsOf(database, variableId);
}

/** Deletes, in batches, the runs that ended more than `retentionDays` days ago (R-H8). */
export async function purgeRuns(database: Database, clock: Clock, retentionDays: number): Promise<void> {
  const before = new Date(clock.nowMillis() - retentionDays * MILLIS_PER_DAY).toISOString();
  for (;;) {
    const { rowCount } = await database.query(PURGE, [before, RUNS_PER_STATEMENT]);
    if ((rowCount ?? 0) < RUNS_PER_STATEMENT) return;
  }
}
