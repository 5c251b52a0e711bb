/**
 * `operationId` and `operationTimeoutSec` (§4.5, R-D7), as shipped clients write them (R-A3): what makes no sense is as
 * good as absent, and a second `?` separates like `&`.
 */

import { isStorableText, STORABLE_RULE } from '../platform/database/storable-text.ts';
import { parseQuery, queryError } from '../platform/http/query-string.ts';

export interface PushQuery {
  /** undefined: the client gave none. */
  readonly operationId: string | undefined;
  readonly timeoutSec: number;
}

export const MAX_LABEL = 200;
/** Seconds until a push is told of that has not ended (R-D7). */
export const DEFAULT_TIMEOUT_SEC = 60;
export const MAX_TIMEOUT_SEC = 604_800;
const SECOND_QUESTION_MARK = /\?(?=operation(?:id|timeoutsec)=)/gi;

/** @throws DomainError invalid_input for an operationId that cannot be kept. */
export function parsePushQuery(address: string): PushQuery {
  const start = address.indexOf('?');
  if (start < 0) return { operationId: undefined, timeoutSec: DEFAULT_TIMEOUT_SEC };
  const query = parseQuery(`?${address.slice(start + 1).replace(SECOND_QUESTION_MARK, '&')}`);
  const seconds = Number(/^\d+$/.exec(query.find('operationTimeoutSec') ?? '')?.[0] ?? 0);
  return {
    operationId: parseLabel(query.find('operationId')),
    timeoutSec: seconds >= 1 && seconds <= MAX_TIMEOUT_SEC ? seconds : DEFAULT_TIMEOUT_SEC,
  };
}

function parseLabel(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  if (label.length > MAX_LABEL) throw queryError('operationId', `must be at most ${MAX_LABEL} characters`);
  if (!isStorableText(label)) throw queryError('operationId', STORABLE_RULE);
  return label;
}
