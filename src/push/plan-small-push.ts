/** A small push from its bytes to what is stored of it, where everything it needs is remembered. Waits for nothing. */
import type { Caller } from '../identity/caller/caller.ts';
import { DomainError } from '../platform/errors.ts';
import { TUPLE_BYTES } from '../points/copy-codec.ts';
import { NO_ID } from '../points/dictionary.ts';
import type { EncodedPush } from './body/encode-push.ts';
import type { PushLimits } from './body/push-element.ts';
import { type ReadPush, readPush } from './body/read-push.ts';
import type { Target } from './resolve-targets.ts';
import type { TargetCache } from './target-cache.ts';

export interface SmallPush {
  readonly structureVersion: number | null;
  readonly elements: number;
  readonly readings: number;
  /** COPY tuples, one per reading. */
  readonly tuples: Buffer;
}

export interface SmallPushParts {
  readonly targets: TargetCache;
  readonly limits: PushLimits;
}

const NO_LABELS = { versionTagId: NO_ID, tagSetId: NO_ID };

/** @returns undefined for a push that is wrong, rejects something, warns, has labels or repeats, or has to be looked up. */
export function planSmallPush(parts: SmallPushParts, caller: Caller, bytes: Buffer): SmallPush | undefined {
  const push = tryRead(bytes, parts.limits);
  if (!push || push.summary.labelTable.some(({ version, tags }) => version !== undefined || tags !== null))
    return undefined;
  const resolved = parts.targets.recall(caller, push.summary.targets);
  if (!resolved?.targets.every((target) => 'variableId' in target)) return undefined;
  const { structureVersion } = resolved;
  const { tuples, readingCount, warnings } = encode(push, resolved.targets as readonly Target[]);
  if (readingCount === 0 || warnings.length > 0 || tuples.length !== readingCount * TUPLE_BYTES) return undefined;
  return { structureVersion, elements: resolved.targets.length, readings: readingCount, tuples };
}

function tryRead(bytes: Buffer, limits: PushLimits): ReadPush | undefined {
  try {
    return readPush(bytes, limits, false);
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

function encode({ encode, summary }: ReadPush, targets: readonly Target[]): EncodedPush {
  return encode({
    variableIds: targets.map(({ variableId }) => variableId),
    timeZoneIds: targets.map(({ timeZoneId }) => timeZoneId),
    labelIds: summary.labelTable.map(() => NO_LABELS),
  });
}
