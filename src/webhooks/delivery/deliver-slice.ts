/**
 * One time slice of a webhook: sends due attempts, in the order of their due dates, over a few concurrent lanes. A
 * slice is short, so a long backlog or a slow receiver does not starve other webhooks.
 */
import type { Database } from '../../platform/database/database.ts';
import type { RowLeases } from '../../platform/database/row-leases.ts';
import type { Log } from '../../platform/log.ts';
import type { AttemptOutcome, Message } from '../attempt.ts';
import type { SecretVault } from '../secret-vault.ts';
import type { WebhookTarget } from '../webhook.ts';
import type { WebhookMetrics } from '../webhook-metrics.ts';
import { type AttemptPrefetch, type DueAttempt, openPrefetch } from './attempt-prefetch.ts';
import { type ClaimedAttempt, idsOf, type Receiver, releaseClaims } from './claim-attempts.ts';
import type { OutcomeWriter } from './outcome-writer.ts';
import {
  isDown,
  planNextStep,
  planPause,
  planProbePause,
  planRepeat,
  type RetryPolicy,
  type TryEnd,
} from './retry-rules.ts';

export type TryOutcome = AttemptOutcome & { readonly retryAfterMs?: number; readonly isTooLarge?: boolean };

export interface DeliveryServices {
  readonly database: Database;
  readonly vault: SecretVault;
  /** Sends a message. A failure of the receiver does not reject the promise: the outcome has the error. */
  readonly send: (target: WebhookTarget, message: Message) => Promise<TryOutcome>;
  readonly writer: OutcomeWriter;
  readonly retries: RetryPolicy;
  /** Maximum number of concurrent requests of one webhook. */
  readonly parallel: number;
  readonly leases: RowLeases<ClaimedAttempt>;
  /** @returns a random number from 0 inclusive to 1 exclusive. */
  readonly chance: () => number;
  readonly metrics: WebhookMetrics;
  /** @returns true when the deliverer is stopping: a slice then starts no new attempts. */
  readonly isStopped: () => boolean;
  /**
   * When the deliverer aborts this signal, each request in flight is abandoned, and the claim of its attempt is
   * released (R-K2).
   */
  readonly givingUp: AbortSignal;
  readonly log: Log;
}

/** Milliseconds during which a slice starts new attempts. */
const SLICE_MS = 2000;
/**
 * After this many attempts, a lane waits until their outcomes are written or given up. So sending stops while the
 * database is unavailable.
 */
const MAX_UNWRITTEN = 50;

/**
 * Sends due attempts of a webhook during one time slice (R-I3). Then releases the claims of the remaining attempts,
 * even if a lane has failed.
 * @returns whether more attempts of the webhook might be due.
 * @throws the error of the release; otherwise the error of a failed lane.
 */
export async function deliverSlice(
  services: DeliveryServices,
  webhookId: string,
  { isFailing }: Pick<Receiver, 'isFailing'>,
): Promise<boolean> {
  const { database, vault, leases, parallel, isStopped } = services;
  // A failing receiver gets one request at a time during the whole slice.
  const lanes = isFailing ? 1 : parallel;
  const endMs = performance.now() + SLICE_MS;
  const circuit = openCircuit(isFailing);
  const isOver = () => isStopped() || circuit.isOpen() || performance.now() > endMs;
  const prefetch = openPrefetch({ database, vault, webhookId, leases, lanes, isOver });
  const ends = await Promise.allSettled(Array.from({ length: lanes }, () => runLane(services, prefetch, circuit)));
  const left = await prefetch.end();
  await leases.drop(left);
  await releaseClaims(database, left);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return prefetch.isMoreDue();
}

async function runLane(services: DeliveryServices, prefetch: AttemptPrefetch, circuit: Circuit): Promise<void> {
  const writes: Promise<void>[] = [];
  try {
    for (let due = await prefetch.take(); due; due = await prefetch.take()) {
      const outcome = await sendUnlessStopped(services, due).finally(prefetch.done);
      // The circuit breaker ignores replays: a manager may use them to test a receiver that is being set up.
      if (isOutcome(outcome) && !due.claimed.isReplay) circuit.add(toEnd(outcome));
      writes.push(endAttempt(services, due, outcome, circuit.isOpen()));
      if (writes.length >= MAX_UNWRITTEN) await Promise.all(writes.splice(0));
    }
  } finally {
    await Promise.all(writes);
  }
}

async function endAttempt(
  services: DeliveryServices,
  due: DueAttempt,
  outcome: TryOutcome | NoOutcome,
  isOpen: boolean,
): Promise<void> {
  const endedMs = performance.now();
  await services.leases.drop([due.claimed]);
  if (isOutcome(outcome)) await writeEnd(services, due, { outcome, endedMs, isOpen });
  else await release(services, due, outcome.delayMs);
}

async function release({ database, log }: DeliveryServices, { claimed }: DueAttempt, delayMs: number): Promise<void> {
  await releaseClaims(database, [claimed], delayMs).catch((error: unknown) => {
    log.warn(
      { err: error, ...idsOf(claimed) },
      'an unfinished webhook attempt could not be released; it can be sent again when its lease ends',
    );
  });
}

/**
 * Returned for an attempt that has no outcome. The claim of the attempt is then released, so that the attempt can be
 * made again.
 */
interface NoOutcome {
  /** Milliseconds until the attempt is due again; 0 leaves its due date unchanged. */
  readonly delayMs: number;
}

const isOutcome = (result: TryOutcome | NoOutcome): result is TryOutcome => 'state' in result;

/**
 * @returns the outcome of the attempt. Returns NoOutcome when the claim was lost before the request, when `givingUp` is
 * aborted before the receiver answers, and when an internal error ends an attempt that may be repeated.
 */
async function sendUnlessStopped(
  { send, leases, givingUp, log }: DeliveryServices,
  { claimed, target }: DueAttempt,
): Promise<TryOutcome | NoOutcome> {
  const stopped = Promise.withResolvers<NoOutcome>();
  if (givingUp.aborted || !leases.isHeld(claimed)) return { delayMs: 0 };
  const stop = () => stopped.resolve({ delayMs: 0 });
  givingUp.addEventListener('abort', stop);
  const startMs = performance.now();
  try {
    return await Promise.race([send(target, claimed.message), stopped.promise]);
  } catch (error) {
    const delayMs = planRepeat(Date.now() - Date.parse(claimed.message.timestamp));
    const what =
      delayMs === undefined
        ? 'the attempt counts as failed'
        : `the attempt will be repeated in ${Math.round(delayMs / 1000)} s`;
    log.error({ err: error, ...idsOf(claimed) }, `an internal error ended a webhook attempt; ${what}`);
    if (delayMs !== undefined) return { delayMs };
    return {
      state: 'Failed',
      request: { method: target.httpMethod, url: target.url, headers: {}, body: '' },
      error: 'the request to the receiver failed because of an internal error of this service, not of the receiver',
      durationMs: performance.now() - startMs,
    };
  } finally {
    givingUp.removeEventListener('abort', stop);
  }
}

function writeEnd(
  { writer, retries, chance, metrics }: DeliveryServices,
  { claimed }: DueAttempt,
  { outcome, endedMs, isOpen }: { readonly outcome: TryOutcome; readonly endedMs: number; readonly isOpen: boolean },
): Promise<void> {
  metrics.attempted(
    outcome.state === 'Succeeded' ? 'succeeded' : outcome.response ? 'status' : 'unreachable',
    outcome.durationMs / 1000,
  );
  const end = toEnd(outcome);
  const next = planNextStep(end, claimed.attempt, claimed.isReplay, retries, chance());
  const probePauseMs = isOpen && isDown(end) && !claimed.isReplay ? planProbePause(claimed.attempt, retries) : 0;
  return writer.write({ claimed, outcome, next, pauseMs: Math.max(planPause(end), probePauseMs), endedMs });
}

function toEnd({ state, response, retryAfterMs, isTooLarge }: TryOutcome): TryEnd {
  return { state, status: response?.status, retryAfterMs, isTooLarge };
}

const FAILURES_TO_OPEN = 2;

/**
 * Circuit breaker of one webhook within a time slice. It opens when two attempts in a row show that the receiver is
 * down. One such attempt is enough if the webhook's last attempt before the slice failed. While the circuit breaker is
 * open, the slice starts no attempt. The webhook is paused. The slice after the pause first sends one message as a
 * probe. During the pause, messages wait as `Pending` and use up no attempt.
 */
export interface Circuit {
  add(end: TryEnd): void;
  isOpen(): boolean;
}

/**
 * Creates the circuit breaker of a slice.
 * @param isFailing true when the webhook's latest attempt has failed. The circuit breaker then starts as if
 *   FAILURES_TO_OPEN - 1 attempts in a row had shown that the receiver is down. One more such attempt in a row opens
 *   the circuit. Otherwise, the circuit breaker starts without failures.
 */
export function openCircuit(isFailing: boolean): Circuit {
  let failures = isFailing ? FAILURES_TO_OPEN - 1 : 0;
  return {
    add: (end) => {
      if (!end.isTooLarge) failures = isDown(end) ? failures + 1 : 0;
    },
    isOpen: () => failures >= FAILURES_TO_OPEN,
  };
}
