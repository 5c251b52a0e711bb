/** Encodes a parsed push with resolved targets as an operation, which is then stored. */
import type { Caller } from '../../identity/caller/caller.ts';
import type { Dictionary } from '../../points/dictionary.ts';
import { findLabelIds } from '../../points/find-label-ids.ts';
import type { EncodedPush } from '../body/encode-push.ts';
import type { OpenPush } from '../body/push-readers.ts';
import type { PushWarning } from '../push-answer.ts';
import type { Target, Unresolved } from '../resolve-targets.ts';
import type { NewOperation } from '../store/new-operation.ts';

export interface PushContext {
  readonly caller: Caller;
  /** Label from the client, or a generated label. A plain push gets another generated label (`toSharedOperation`). */
  readonly label: string;
  /**
   * True when the client chose the label; false for a replay. The same body, sent again with this label within 24
   * hours, is the same operation (R-D7).
   */
  readonly isResendable: boolean;
  readonly timeoutSec: number;
  readonly requestId: string;
  /** Mapper of a push in a custom format; null for the standard format. */
  readonly mapperId: string | null;
  /** Hash of the body before the mapping. Set only when a push in a custom format has a client's label. */
  readonly bodyHash?: Uint8Array | undefined;
}

export type EncodedOperation = NewOperation & Pick<EncodedPush, 'firstDates' | 'hasVersionTags' | 'timeZones'>;

/**
 * Creates the warning that a push stored nothing (§7). Without the warning, clients would consider the status 200 a
 * success.
 */
function nothingAccepted(count: number): PushWarning {
  const subject = count === 1 ? 'the element' : `each of the ${count} elements`;
  const message = `the readings were not stored: ${subject} matches either no variable or several variables; see the reasons in "rejected"; correct the sources and variables and replay the operation, or correct the push and send it again`;
  return { path: '$', code: 'nothing_accepted', message };
}

/**
 * Encodes the readings and adds unknown VersionTags and tag sets to the dictionary. `resendKey` of the result is null;
 * accept-push.ts sets it.
 */
export async function encodeOperation(
  dictionary: Dictionary,
  { caller, label, requestId, timeoutSec, mapperId }: PushContext,
  push: OpenPush,
  targets: readonly (Target | Unresolved)[],
): Promise<EncodedOperation> {
  const rejected = targets.flatMap((target, index) => ('code' in target ? [{ index, ...target }] : []));
  const { labelTable } = push.summary;
  const labelIds = await findLabelIds(dictionary, caller.accountId, labelTable);
  const { readingCount, ...encoded } = await push.encode({
    variableIds: targets.map((target) => ('code' in target ? 0 : target.variableId)),
    timeZoneIds: targets.map((target) => ('code' in target ? '' : target.timeZoneId)),
    dividers: targets.map((target) => ('code' in target ? 1 : target.divider)),
    labelIds: labelTable.map(labelIds),
  });
  const indexes = rejected.map(({ index }) => index);
  const isRejected = rejected.length > 0 && rejected.length === targets.length;
  return {
    ...encoded,
    warnings: isRejected ? [nothingAccepted(rejected.length)] : encoded.warnings,
    ...{ userId: caller.userId, label, requestId, timeoutSec, mapperId, resendKey: null, isReplay: false },
    acceptedElements: targets.length - rejected.length,
    acceptedReadings: readingCount,
    variableIds: targets.flatMap((target) => ('code' in target ? [] : [target.variableId])),
    rejected,
    rejectedElements: indexes.length === 0 ? [] : await push.elementTexts(indexes),
  };
}
