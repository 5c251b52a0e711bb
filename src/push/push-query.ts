/**
 * Query parameters of pushes and operations (§4.5, R-D7, R-D8), for the routes and their OpenAPI description. Some
 * shipped clients send a second `?` in place of `&`. Some send a time-out that is not a number. Both are accepted
 * (R-A3).
 */
import { z } from 'zod';
import { isStorableText, STORABLE_RULE } from '../platform/database/storable-text.ts';
import { PAGING } from '../platform/http/paging.ts';
import { declareQuery, type QueryParameter } from '../platform/http/query.ts';
import { flagParameter, idsParameter, integerParameter, textParameter } from '../platform/http/query-parameters.ts';

const MAX_LABEL = 200;
/** Default number of seconds after which `DataPushCompleted` is sent even if the operation has not ended (R-D7). */
export const DEFAULT_TIMEOUT_SEC = 60;
const MAX_TIMEOUT_SEC = 604_800;
const SECOND_QUESTION_MARK = /\?(?=operation(?:id|timeoutsec)=)/gi;

/** A value that is not a whole number from 1 to `MAX_TIMEOUT_SEC` counts as absent. */
const operationTimeoutSec: QueryParameter<number> = {
  description: 'If the operation has not ended after this many seconds, `DataPushCompleted` is sent anyway.',
  schema: z.int().min(1).max(MAX_TIMEOUT_SEC).default(DEFAULT_TIMEOUT_SEC),
  read: (values) => {
    const seconds = Number(/^\d+$/.exec(values.at(-1)?.text ?? '')?.[0] ?? 0);
    return seconds >= 1 && seconds <= MAX_TIMEOUT_SEC ? seconds : DEFAULT_TIMEOUT_SEC;
  },
};
const all = flagParameter(
  '`true` selects every operation with this label. `false` selects only the newest operation with this label.',
);

export const PUSH_QUERY = declareQuery({
  operationId: textParameter(
    'The client’s label for the push. Another push with the same label, user and body within 24 hours counts as the same operation and stores nothing new. If the operation is `Failed`, it becomes a new operation. Default: a new UUID.',
    z
      .string()
      .max(MAX_LABEL, { error: `must be at most ${MAX_LABEL} characters` })
      .refine(isStorableText, { error: STORABLE_RULE }),
  ),
  operationTimeoutSec,
});
/**
 * Maximum number of items on a page; it is limited because a page is built in memory. A request for a larger page is
 * refused rather than answered with a shortened page, which clients would take for the last page.
 */
const MAX_ITEMS = 1000;
const itemsPerPage = integerParameter('Items per page.', { min: 1, max: MAX_ITEMS, default: MAX_ITEMS });
export const OPERATION_QUERY = declareQuery({ all, ...PAGING, itemsPerPage });
export const TARGET_QUERY = declareQuery({ variableIds: idsParameter('Ids of the variables to check.') });
export const REPLAY_QUERY = declareQuery({ all, operationTimeoutSec });

/**
 * Repairs the query of a URL (R-A3): each `?` after the first one becomes `&` if it stands directly before
 * `operationId=` or `operationTimeoutSec=`. Returns only the query, repaired and with its leading `?`. If the URL has
 * no query, returns the unchanged URL.
 */
export function repairAddress(address: string): string {
  const start = address.indexOf('?');
  return start < 0 ? address : `?${address.slice(start + 1).replace(SECOND_QUESTION_MARK, '&')}`;
}

export interface PushQuery {
  /** Label of the push, chosen by the client; undefined when the client chose none. */
  readonly operationId: string | undefined;
  readonly timeoutSec: number;
}

/**
 * Parses the query of a push (§4.5, R-D7).
 * @throws {DomainError} invalid_input for an operationId that is too long or cannot be stored.
 */
export function parsePushQuery(address: string): PushQuery {
  if (!address.includes('?')) return { operationId: undefined, timeoutSec: DEFAULT_TIMEOUT_SEC };
  const { operationId, operationTimeoutSec: timeoutSec } = PUSH_QUERY.parse(repairAddress(address));
  return { operationId, timeoutSec };
}
