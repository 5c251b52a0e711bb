/** The calculator role: runs variables when woken, and looks for what was lost in between. */
import type { Log } from '../platform/log.ts';
import type { OutboxRelay } from '../platform/outbox.ts';
import { openWakeWorker, type QueueOptions, type WakeQueue } from '../platform/queue.ts';
import { startSweeper } from '../platform/sweep.ts';
import { findDueVariables } from './claim-run.ts';
import { type RunServices, runCalculation } from './run-calculation.ts';

/** Queue whose keys are variable ids. */
export const CALCULATION_QUEUE = 'calculation';

export interface CalculatorServices extends RunServices {
  readonly queue: WakeQueue;
  readonly queueOptions: QueueOptions;
  readonly outbox: OutboxRelay;
  readonly settings: { readonly concurrency: number; readonly sweepIntervalMs: number };
  readonly log: Log;
}

export interface Calculator {
  /** Finishes the runs under way and takes no more. */
  stop(): Promise<void>;
}

export function startCalculator(services: CalculatorServices): Calculator {
  const { queue, queueOptions, outbox, settings, log } = services;
  const look = async (key: string): Promise<void> => {
    const result = await runCalculation(services, Number(key));
    if (result.kind !== 'ended') return;
    const { run, report } = result;
    const fields = { runId: run.id, variableId: run.variableId, accountId: run.accountId, ...report.durations };
    log.info({ ...fields, outcome: report.outcome, counts: report.counts }, 'calculation ended');
    await outbox.relay();
    // One run a turn: a variable asked for again in every run must not keep the others, or a stop, waiting.
    await queue.wake([key]).catch((error: unknown) => log.warn({ err: error, ...fields }, 'left to the sweeper'));
  };
  const sweep = async (): Promise<void> => {
    const due = await findDueVariables(services.database);
    if (due.length > 0) await queue.wake(due.map(String));
    await outbox.relay();
  };
  const worker = openWakeWorker(CALCULATION_QUEUE, settings.concurrency, look, queueOptions);
  const sweeper = startSweeper(CALCULATION_QUEUE, settings.sweepIntervalMs, sweep, log);
  return {
    stop: async () => {
      await Promise.all([worker.close(), sweeper.stop()]);
    },
  };
}
