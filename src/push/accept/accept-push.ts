/**
 * Accepts a push: reads it, resolves its targets, encodes its readings and stores them. When it returns, the push is
 * committed; everything after is the ingester's (R-D1).
 */
import { createHash } from 'node:crypto';
import type { Database } from '../../platform/database/database.ts';
import type { Dictionary } from '../../points/dictionary.ts';
import type { OpenPush, PushReaders } from '../body/push-readers.ts';
import { type PushAnswer, toAnswer } from '../push-answer.ts';
import type { PushMetrics, PushWay } from '../push-metrics.ts';
import { findResent } from '../store/find-resent.ts';
import { toPlainPush } from '../store/plain-push.ts';
import type { DirectWriter } from '../store/write-directly.ts';
import type { TargetCache } from '../target-cache.ts';
import type { Admission } from './admission.ts';
import { type EncodedOperation, encodeOperation, type PushContext } from './encode-operation.ts';
import type { GroupCommit, GroupOutcome } from './group-commit.ts';

export interface AcceptServices {
  readonly database: Database;
  readonly dictionary: Dictionary;
  readonly targets: TargetCache;
  readonly readers: PushReaders;
  readonly admission: Admission;
  readonly directWriter: DirectWriter;
  readonly group: GroupCommit;
  readonly metrics: PushMetrics;
  /** Asks for the ingester's attention. */
  readonly wake: (accountId: number) => void;
}

/** @throws DomainError malformed_json, invalid_input, body_too_large, queue_full. */
export type AcceptPush = (context: PushContext, bytes: Uint8Array<ArrayBuffer>) => Promise<PushAnswer>;

interface EncodedSubmission {
  readonly accountId: number;
  readonly structureVersion: number | null;
  readonly operation: EncodedOperation;
  /** Whether the label is not the client's. */
  readonly isLabelOurs: boolean;
}

// Stored, or found to be out of date, or found to be sent before long ago: never more than one of each.
const MAX_ATTEMPTS = 3;

export function createAcceptPush(parts: AcceptServices): AcceptPush {
  // Those sent again while the first is still being worked on share its answer, instead of waiting for its commit.
  const underWay = new Map<string, Promise<AcceptedPush>>();
  return async (context, bytes) => {
    const push = await parts.readers.read(bytes, context.isResendable);
    try {
      const resendKey = resendKeyOf(context, context.bodyHash ?? push.summary.bodyHash);
      if (!resendKey) return count(parts.metrics, bytes.length, await storePush(parts, context, push, null));
      const key = resendKey.toString('base64');
      const first = underWay.get(key);
      if (first) return count(parts.metrics, bytes.length, { ...(await first), way: 'resent' });
      const answer = storePush(parts, context, push, resendKey);
      underWay.set(key, answer);
      return count(parts.metrics, bytes.length, await answer.finally(() => underWay.delete(key)));
    } finally {
      push.release();
    }
  };
}

interface AcceptedPush {
  readonly answer: PushAnswer;
  readonly way: PushWay;
}

function count(metrics: PushMetrics, bytes: number, { answer, way }: AcceptedPush): PushAnswer {
  const { accepted, rejected } = answer;
  metrics.accepted(way, { bytes, ...accepted, rejectedElements: rejected.length });
  return answer;
}

function resendKeyOf({ caller, label }: PushContext, bodyHash: Uint8Array | undefined): Buffer | null {
  if (!bodyHash) return null;
  const hash = createHash('sha256');
  return hash
    .update(JSON.stringify([caller.accountId, caller.userId, label]))
    .update(bodyHash)
    .digest();
}

async function storePush(
  parts: AcceptServices,
  context: PushContext,
  push: OpenPush,
  resendKey: Buffer | null,
): Promise<AcceptedPush> {
  let isFresh = false;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const resolved = await parts.targets.resolve(context.caller, push.summary.targets, isFresh);
    const operation = { ...(await encodeOperation(parts.dictionary, context, push, resolved.targets)), resendKey };
    const isLabelOurs = !context.isResendable;
    const { way, outcome } = await store(parts, { ...context.caller, ...resolved, operation, isLabelOurs });
    switch (outcome.kind) {
      case 'stored':
        return { way, answer: toAnswer({ ...operation, label: outcome.label }) };
      case 'stale':
        // What was remembered of the structure is out of date; what is looked up now is right.
        isFresh = true;
        break;
      case 'resent': {
        const answer = resendKey && (await findResent(parts.database, resendKey));
        if (answer) return { way: 'resent', answer };
      }
    }
  }
  throw new Error('a push was neither stored nor found');
}

/** Large pushes of new dates by the short way, all others together with what comes at the same time. */
async function store(
  { directWriter, group, admission, wake }: AcceptServices,
  { accountId, structureVersion, operation, isLabelOurs }: EncodedSubmission,
): Promise<{ readonly way: PushWay; readonly outcome: GroupOutcome }> {
  const direct = await directWriter.tryWrite({ accountId, structureVersion, operation });
  if (direct) {
    if (direct.kind === 'stored') wake(accountId);
    return { way: 'direct', outcome: direct.kind === 'stored' ? { ...direct, label: operation.label } : direct };
  }
  const push = toPlainPush(operation, isLabelOurs) ?? operation;
  const outcome = await group.submit({ accountId, structureVersion, push });
  if (outcome.kind !== 'stored') return { way: 'group', outcome };
  admission.noteQueued(operation.tuples.length);
  wake(accountId);
  return { way: 'group', outcome };
}
