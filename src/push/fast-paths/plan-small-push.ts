/**
 * Converts a small plain push (plain-push.ts) from bytes to COPY tuples, synchronously. The push must have no
 * VersionTags and no tags, and its targets must be cached.
 */
import type { Caller } from '../../identity/caller/caller.ts';
import { DomainError } from '../../platform/errors.ts';
import { NO_ID } from '../../points/dictionary.ts';
import type { EncodedPush } from '../body/encode-push.ts';
import { type ReadPush, readPush } from '../body/read-push.ts';
import { DEFAULT_TIMEOUT_SEC } from '../push-query.ts';
import type { Target } from '../resolve-targets.ts';
import type { SmallPush, SmallPushParts } from './fast-paths.ts';
import { toPlainPush } from './plain-push.ts';

const NO_LABELS = { versionTagId: NO_ID, tagSetId: NO_ID };

/**
 * Converts a push without reading the database.
 * @returns undefined if the push is invalid, is not plain (plain-push.ts), has VersionTags or tags, or has a variable
 *   that is not cached.
 */
export function planSmallPush(
  { targets, limits }: SmallPushParts,
  caller: Caller,
  requestId: string | null,
  bytes: Buffer,
): SmallPush | undefined {
  const push = orRefused(() => readPush(bytes, limits, false));
  if (!push || push.summary.labelTable.some(({ version, tags }) => version !== undefined || tags !== null))
    return undefined;
  const resolved = targets.recall(caller, push.summary.targets);
  if (!resolved?.targets.every((target) => 'variableId' in target)) return undefined;
  const encoded = orRefused(() => encode(push, resolved.targets as readonly Target[]));
  if (!encoded) return undefined;
  const { tuples, readingCount, warnings, timeZones } = encoded;
  const plain = toPlainPush({
    ...{ userId: caller.userId, requestId, isLabelOurs: true, timeoutSec: DEFAULT_TIMEOUT_SEC, mapperId: null },
    ...{ acceptedElements: resolved.targets.length, acceptedReadings: readingCount, rejected: [], warnings, tuples },
    variableIds: (resolved.targets as readonly Target[]).map(({ variableId }) => variableId),
  });
  return plain && { structureVersion: resolved.structureVersion, push: plain, timeZones };
}

/** @returns undefined when `work` throws a DomainError. The push is then invalid, so the app refuses the push. */
function orRefused<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

function encode({ encode, summary }: ReadPush, targets: readonly Target[]): EncodedPush {
  return encode({
    variableIds: targets.map(({ variableId }) => variableId),
    timeZoneIds: targets.map(({ timeZoneId }) => timeZoneId),
    dividers: targets.map(({ divider }) => divider),
    labelIds: summary.labelTable.map(() => NO_LABELS),
  });
}
