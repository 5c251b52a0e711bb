/**
 * One turn of a webhook: sends what is due, a few at a time and the oldest first, for a short while. Then the next webhook
 * has the place: one with a long backlog, or a slow receiver, keeps no other waiting.
 */
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import type { AttemptOutcome, Message } from '../attempt.ts';
import type { WebhookTarget } from '../webhook.ts';
import type { WebhookMetrics } from '../webhook-metrics.ts';
import { type AttemptPrefetch, type DueAttempt, openPrefetch } from './attempt-prefetch.ts';
import { type Receiver, releaseClaims } from './claim-attempts.ts';
import type { OutcomeWriter } from './outcome-writer.ts';
import { planNextStep, planPause, type RetryPolicy } from './retry-rules.ts';

export type TryOutcome = AttemptOutcome & { readonly retryAfterMs?: number };

export interface DeliveryServices {
  readonly database: Database;
  /** Never rejects for anything the receiver does. */
  readonly send: (target: WebhookTarget, message: Message) => Promise<TryOutcome>;
  readonly writer: OutcomeWriter;
  readonly retries: RetryPolicy;
  /** Requests under way to one receiver. */
  readonly parallel: number;
  /** How long a claim lasts: more than a turn, and a try begun at its end, may take. */
  readonly leaseMs: number;
  /** From 0 to 1, 1 exclusive. */
  readonly chance: () => number;
  readonly metrics: WebhookMetrics;
  /** No try is begun any more. */
  readonly isStopped: () => boolean;
  /** Not even the end of what is under way is waited for: it is handed back (R-K2). */
  readonly givingUp: AbortSignal;
  readonly log: Log;
}

/** How long tries are begun in one turn. */
export const SLICE_MS = 2000;
/** Outcomes of a lane that may wait to be written: when the database is away, nothing more is sent. */
const MAX_UNWRITTEN = 50;

/** @returns whether there may be more to send. */
export async function deliverSlice(
  services: DeliveryServices,
  webhookId: string,
  { isFailing }: Pick<Receiver, 'isFailing'>,
): Promise<boolean> {
  const { database, leaseMs, parallel, isStopped } = services;
  // A receiver that fails is asked for one thing at a time until it answers again.
  const lanes = isFailing ? 1 : parallel;
  const endMs = performance.now() + SLICE_MS;
  const isOver = () => isStopped() || performance.now() > endMs;
  const supply = openPrefetch({ database, webhookId, leaseMs, lanes, isOver });
  const ends = await Promise.allSettled(Array.from({ length: lanes }, () => runLane(services, supply)));
  await releaseClaims(database, await supply.end());
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return supply.isMoreDue();
}

async function runLane(services: DeliveryServices, supply: AttemptPrefetch): Promise<void> {
  const writes: Promise<void>[] = [];
  try {
    for (let due = await supply.take(); due; due = await supply.take()) {
      const outcome = await sendUnlessStopped(services, due).finally(supply.done);
      writes.push(outcome ? writeEnd(services, due, outcome) : release(services, due));
      if (writes.length >= MAX_UNWRITTEN) await Promise.all(writes.splice(0));
    }
  } finally {
    await Promise.all(writes);
  }
}

async function release({ database, log }: DeliveryServices, { claimed }: DueAttempt): Promise<void> {
  await releaseClaims(database, [claimed]).catch((error: unknown) => {
    log.warn({ err: error, webhookId: claimed.webhookId }, 'a claim could not be handed back; it runs out');
  });
}

/** @returns undefined when the process stops before the receiver has answered. */
async function sendUnlessStopped(
  { send, givingUp, log }: DeliveryServices,
  { claimed, target }: DueAttempt,
): Promise<TryOutcome | undefined> {
  const stopped = Promise.withResolvers<undefined>();
  if (givingUp.aborted) return undefined;
  const stop = () => stopped.resolve(undefined);
  givingUp.addEventListener('abort', stop);
  const startMs = performance.now();
  try {
    return await Promise.race([send(target, claimed.message), stopped.promise]);
  } catch (error) {
    log.error({ err: error, webhookId: claimed.webhookId }, 'a webhook message could not be sent by a fault of ours');
    const { httpMethod: method, url } = target;
    const request = { method, url, headers: {}, body: '' };
    const durationMs = performance.now() - startMs;
    return { state: 'Failed', request, error: 'a fault of the service kept it from being sent', durationMs };
  } finally {
    givingUp.removeEventListener('abort', stop);
  }
}

function writeEnd(
  { writer, retries, chance, metrics }: DeliveryServices,
  { claimed }: DueAttempt,
  outcome: TryOutcome,
): Promise<void> {
  metrics.attempted(
    outcome.state === 'Succeeded' ? 'succeeded' : outcome.response ? 'status' : 'unreachable',
    outcome.durationMs / 1000,
  );
  const end = { state: outcome.state, status: outcome.response?.status, retryAfterMs: outcome.retryAfterMs };
  const next = planNextStep(end, claimed.attempt, claimed.isReplay, retries, chance());
  return writer.write({ claimed, outcome, next, pauseMs: planPause(end), endedMs: performance.now() });
}
