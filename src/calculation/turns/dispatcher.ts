/**
 * Assigns the slots of a calculator to turns (runs and previews) in the order of the fair queue, and stops runs and
 * previews that must give a borrowed slot back.
 */
import type { Log } from '../../platform/log.ts';
import { FairQueue, type Turn, type Urgency } from './fair-queue.ts';
import { HandBack } from './hand-back.ts';

/**
 * Delay before a borrowed slot is taken back. The delay begins when an account that uses less than its share needs a
 * slot. A run or preview that ends within the delay need not be stopped.
 */
const TAKE_BACK_AFTER_MS = 25;

const STOPPING = 'the calculator stopped before the run ended; the run will be repeated';
const TAKEN_BACK =
  'the run used a slot borrowed from another account, which needed the slot back; the run will be repeated';

export interface Dispatcher {
  add(turns: readonly Turn[]): void;
  countWaiting(accountId: number, urgency: Urgency): number;
  /**
   * Starts no more turns, waits up to `graceMs` for the running ones, then aborts them.
   * @returns the turns that still wait: those that were never started, and those of aborted runs and previews.
   */
  stop(graceMs: number): Promise<readonly Turn[]>;
}

export interface DispatcherOptions {
  /** Maximum number of runs and previews at the same time. */
  readonly slots: number;
  /** Performs a run or a preview. The promise must settle soon after `signal` is aborted (reason: a `HandBack`). */
  readonly perform: (turn: Turn, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}

/** Opens a dispatcher whose queue of turns is empty. */
export function openDispatcher({ slots, perform, log }: DispatcherOptions): Dispatcher {
  const queue = new FairQueue(slots, () => performance.now());
  const underWay = new Map<Turn, { readonly abort: AbortController; readonly ended: Promise<void> }>();
  let isStopping = false;
  /** `stop` aborts this signal when the grace period ends. */
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;

  const begin = (turn: Turn): void => {
    const abort = new AbortController();
    const ended = perform(turn, abort.signal)
      .catch((error: unknown) => logInterrupted(log, turn, error))
      .finally(() => {
        underWay.delete(turn);
        queue.end(turn);
        fill();
      });
    underWay.set(turn, { abort, ended });
  };
  const fill = (): void => {
    if (isStopping) return;
    for (let turn = queue.start(); turn; turn = queue.start()) begin(turn);
    if (queue.isSqueezed()) timer ??= setTimeout(takeBack, TAKE_BACK_AFTER_MS);
  };
  const takeBack = (): void => {
    timer = undefined;
    if (isStopping) return;
    for (let turn = queue.takeBack(); turn; turn = queue.takeBack()) {
      underWay.get(turn)?.abort.abort(new HandBack(TAKEN_BACK, stopping.signal));
    }
  };
  return {
    add: (turns) => {
      for (const turn of turns) queue.add(turn);
      fill();
    },
    countWaiting: (accountId, urgency) => queue.countWaiting(accountId, urgency),
    stop: async (graceMs) => {
      isStopping = true;
      clearTimeout(timer);
      const graceTimer = setTimeout(() => {
        stopping.abort();
        for (const { abort } of underWay.values()) abort.abort(new HandBack(STOPPING, stopping.signal));
      }, graceMs);
      await Promise.all([...underWay.values()].map(({ ended }) => ended));
      clearTimeout(graceTimer);
      return queue.waiting();
    },
  };
}

function logInterrupted(log: Log, { accountId, urgency, id }: Turn, error: unknown): void {
  if (urgency === 'preview') {
    log.error(
      { err: error, accountId, previewId: id },
      'an error interrupted a preview; if the preview is back in the state Waiting, a sweep repeats it; otherwise the client gets 503',
    );
    return;
  }
  log.error(
    { err: error, accountId, urgency, variableId: id },
    'an error interrupted a run; if the run has not ended, it is repeated later or, after its last attempt, recorded as Failed',
  );
}
