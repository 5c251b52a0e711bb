/**
 * Accepts a push: parses the body, resolves the targets, encodes the readings and stores the push. The points are
 * written immediately by a direct write, or later by the ingester.
 */
import { createHash } from 'node:crypto';
import type { Database } from '../../platform/database/database.ts';
import type { Dictionary } from '../../points/dictionary.ts';
import type { OpenPush, PushReaders } from '../body/push-readers.ts';
import type { FastPaths } from '../fast-paths/fast-paths.ts';
import { type PushAnswer, toAnswer } from '../push-answer.ts';
import type { PushMetrics, StoragePath } from '../push-metrics.ts';
import { findResent } from '../store/find-operations.ts';
import type { TargetCache } from '../target-cache.ts';
import { encodeOperation, type PushContext } from './encode-operation.ts';
import type { PushStore } from './push-store.ts';

export interface AcceptServices {
  readonly database: Database;
  readonly dictionary: Dictionary;
  readonly targets: TargetCache;
  readonly readers: PushReaders;
  readonly store: PushStore;
  readonly fastPaths: Pick<FastPaths, 'toPlainPush'>;
  readonly metrics: PushMetrics;
}

/**
 * Accepts one push and resolves after its commit.
 * @param bytes the inflated body, or the output of the mapper. The caller must not use `bytes` afterwards.
 * @throws {DomainError} malformed_json, invalid_input, body_too_large, rate_limited, dependency_unavailable.
 */
export type AcceptPush = (context: PushContext, bytes: Uint8Array<ArrayBuffer>) => Promise<PushAnswer>;

// One attempt, one more if the cached targets were stale, and one more if the push has the key of a push older than 24 h.
const MAX_ATTEMPTS = 3;

/**
 * Creates the function that accepts pushes (R-D1).
 * @param parts the services of this process, which `openPushService` passes.
 */
export function createAcceptPush(parts: AcceptServices): AcceptPush {
  // A re-send that arrives while the first push is in progress gets the answer of the first push.
  const underWay = new Map<string, Promise<AcceptedPush>>();
  return async (context, bytes) => {
    // Saved before `read`, because `bytes.length` is 0 after `read` has transferred a large body to a thread.
    const byteCount = bytes.length;
    const push = await parts.readers.read(bytes, context.isResendable);
    try {
      const resendKey = resendKeyOf(context, context.bodyHash ?? push.summary.bodyHash);
      if (!resendKey) return count(parts.metrics, byteCount, await storePush(parts, context, push, null));
      const key = resendKey.toString('base64');
      const first = underWay.get(key);
      if (first) return count(parts.metrics, byteCount, { ...(await first), path: 'resent' });
      const answer = storePush(parts, context, push, resendKey);
      underWay.set(key, answer);
      return count(parts.metrics, byteCount, await answer.finally(() => underWay.delete(key)));
    } finally {
      push.release();
    }
  };
}

interface AcceptedPush {
  readonly answer: PushAnswer;
  readonly path: StoragePath;
}

function count(metrics: PushMetrics, bytes: number, { answer, path }: AcceptedPush): PushAnswer {
  const { accepted, rejected } = answer;
  metrics.accepted(path, { bytes, ...accepted, rejectedElements: rejected.length });
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
  const { accountId } = context.caller;
  let isFresh = false;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const { targets, structureVersion } = await parts.targets.resolve(context.caller, push.summary.targets, isFresh);
    const operation = { ...(await encodeOperation(parts.dictionary, context, push, targets)), resendKey };
    const written = await parts.store.tryWrite({ accountId, structureVersion, push: operation });
    const plain = parts.fastPaths.toPlainPush({ ...operation, isLabelOurs: !context.isResendable });
    const outcome = written ?? (await parts.store.submit({ accountId, structureVersion, push: plain ?? operation }));
    switch (outcome.kind) {
      case 'stored': {
        const path = written ? 'direct' : 'group';
        return { path: path, answer: toAnswer({ ...operation, label: outcome.label }) };
      }
      case 'stale':
        // The cached targets are out of date: the next attempt looks up fresh ones.
        isFresh = true;
        break;
      case 'resent': {
        const answer = resendKey && (await findResent(parts.database, resendKey, operation.timeZones));
        if (answer) return { path: 'resent', answer };
      }
    }
  }
  throw new Error(
    '3 attempts to store the push failed: each time, the targets were stale or the earlier copy of a re-sent push was not found',
  );
}
