/** One run of a calculated variable: claim, compute, store (R-H5, R-H8, R-H11). */
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import { type Connection, type Database, type Queryable, withConnection } from '../../platform/database/database.ts';
import { isTransientError } from '../../platform/database/dependency-error.ts';
import { withLease } from '../../platform/database/session-lease.ts';
import { HandBack } from '../turns/hand-back.ts';
import { type ClaimedRun, claimRun, RUN_LOCK_CLASS } from './claim-run.ts';
import { type ComputeServices, compute } from './compute.ts';
import { defaultVersion } from './default-version-rules.ts';
import { failRun, handBackRun, RunEndedElsewhere, type RunReport, reportCancelled, succeedRun } from './finish-run.ts';

const HAND_BACK_RETRY_MS = 500;
/**
 * Milliseconds during which a stopping calculator keeps trying to hand back a run. When it gives up, another calculator
 * finds the run later.
 */
const STOPPING_PATIENCE_MS = 3000;

/** Interval at which a run checks whether a user stopped it. */
const WATCH_INTERVAL_MS = 500;

const STOPPED = 'the calculator stopped before the run ended; the run will be repeated';
const INTERRUPTED =
  'a temporary error of the database or of the calculator interrupted the run; the run will be repeated';

export interface RunServices extends ComputeServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** Outcome of an attempt to run a variable. */
export type RunResult =
  | { readonly kind: 'idle' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'ended'; readonly run: ClaimedRun; readonly report: RunReport };

/**
 * Runs a due request of a variable (R-H5).
 * @param signal abort signal. If it is aborted before the scripts end, the request waits again. The attempt does not
 *   count.
 * @returns `idle` when no request can be claimed; `busy` when another session runs the variable.
 */
export async function runCalculation(
  services: RunServices,
  variableId: number,
  signal?: AbortSignal,
): Promise<RunResult> {
  let claimed: ClaimedRun | undefined;
  return withConnection(services.database, async (connection): Promise<RunResult> => {
    const result = await withLease(connection, RUN_LOCK_CLASS, variableId, async (): Promise<RunResult> => {
      const version = defaultVersion(services.clock.nowMillis());
      const run = await claimRun(connection, variableId, version);
      if (!run) return { kind: 'idle' };
      claimed = run;
      return { kind: 'ended', run, report: await executeUntilStopped(services, connection, run, version, signal) };
    });
    return result ?? { kind: 'busy' };
  }).catch(async (error: unknown) => {
    if (claimed && isTransientError(error)) await handBackLater(services, claimed, signal);
    throw error;
  });
}

/**
 * Hands back a run after a transient error, such as a lost connection. The attempt does not count, because this process
 * did not crash (R-A15). Retries until the database answers; a stopping calculator retries for 3 s. Gives up when
 * another database session has already ended the run.
 */
async function handBackLater({ database }: RunServices, run: ClaimedRun, signal?: AbortSignal): Promise<void> {
  let giveUpMs = Number.POSITIVE_INFINITY;
  for (;;) {
    try {
      if (await withConnection(database, (connection) => tryHandBack(connection, run))) return;
    } catch (error) {
      // An error that is not transient, such as `RunEndedElsewhere`, ends the retries.
      if (!isTransientError(error)) return;
    }
    if (isStopping(signal)) giveUpMs = Math.min(giveUpMs, performance.now() + STOPPING_PATIENCE_MS);
    if (performance.now() >= giveUpMs) return;
    await pause(HAND_BACK_RETRY_MS * (0.5 + Math.random()));
  }
}

/**
 * @returns false when the run is still open, but the lock of its variable is held. PostgreSQL keeps the lock of a lost
 *   session for a moment.
 */
async function tryHandBack(connection: Connection, run: ClaimedRun): Promise<boolean> {
  const handBack = async () => {
    await handBackRun(connection, run, INTERRUPTED);
    return true;
  };
  if (await withLease(connection, RUN_LOCK_CLASS, run.variableId, handBack)) return true;
  const open = await connection.query(`select from calculation_run where id = $1 and state = 'Running'`, [run.id]);
  return open.rowCount === 0;
}

function isStopping(signal?: AbortSignal): boolean {
  if (!signal?.aborted) return false;
  return !(signal.reason instanceof HandBack) || signal.reason.stopping.aborted;
}

/** Executes the run, and aborts it when a user stops it (R-H5) or when `signal` is aborted. */
async function executeUntilStopped(
  services: RunServices,
  connection: Connection,
  run: ClaimedRun,
  version: string,
  signal: AbortSignal | undefined,
): Promise<RunReport> {
  const watch = watchRun(services.database, run.id);
  const either = signal ? AbortSignal.any([signal, watch.signal]) : watch.signal;
  try {
    return await execute(services, connection, run, version, either);
  } catch (error) {
    if (error instanceof RunEndedElsewhere && (await isCancelled(connection, run.id))) return reportCancelled(run);
    throw error;
  } finally {
    watch.end();
  }
}

async function execute(
  services: RunServices,
  connection: Connection,
  run: ClaimedRun,
  version: string,
  signal: AbortSignal,
): Promise<RunReport> {
  const { variableId, fromMicros, toMicros, triggerMicros } = run;
  const request = { variableId, changed: { fromMicros, toMicros }, triggerMicros, defaultVersion: version };
  const computed = await compute(services, connection, request, signal).catch((error: unknown) => {
    if (signal.aborted) return undefined;
    throw error;
  });
  if (!computed)
    return handBackRun(connection, run, signal.reason instanceof HandBack ? signal.reason.message : STOPPED);
  const { result, formulas, inputs, notes, read, declaration } = computed;
  const durations = { wait: run.waitMs, ...computed.durations };
  const parts = { formulas, inputs, notes, durations, counts: { read }, declaration };
  if (result.kind === 'ok') return succeedRun(connection, services.dictionary, run, result.outputs, parts);
  return failRun(connection, run, { ...parts, outcome: result.outcome, message: result.message });
}

/** @returns true when a user has stopped the run. */
async function isCancelled(queryable: Queryable, runId: number): Promise<boolean> {
  const text = `select from calculation_run where id = $1 and outcome = 'cancelled'`;
  const { rowCount } = await queryable.query({ name: 'calculation-cancelled', text, values: [runId] });
  return rowCount === 1;
}

/** @returns a signal that aborts within about half a second after a user stops the run. The caller must call `end`. */
function watchRun(database: Database, runId: number): { readonly signal: AbortSignal; end(): void } {
  const stopped = new AbortController();
  const timer = setInterval(async () => {
    if (await isCancelled(database, runId).catch(() => false)) stopped.abort(new Error('the run was stopped'));
  }, WATCH_INTERVAL_MS);
  return { signal: stopped.signal, end: () => clearInterval(timer) };
}
