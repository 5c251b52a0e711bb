/**
 * Appends the `DataPointsWritten` event of a write or a deletion to the outbox. Calculations, webhooks and watches react
 * to this event.
 */
import type { Transaction } from '../platform/database/database.ts';
import { appendEvents } from '../platform/database/outbox.ts';
import { formatInstant } from '../platform/dates/instant-rules.ts';
import type { WrittenRange } from './point.ts';

/**
 * Payload of `DataPointsWritten`. For each variable, `from` and `to` are its first and its last changed date, both
 * inclusive.
 */
export interface PointsWritten {
  readonly variables: readonly {
    readonly variableId: number;
    readonly from: string;
    readonly to: string;
    readonly count: number;
  }[];
  /**
   * Id of the chain of calculations that this write belongs to; absent when the write starts a chain. A chain that a
   * write starts has the id of that write's event.
   */
  readonly wave?: number;
  /** Id of a request that caused the write (R-A10); absent when no such id is known. */
  readonly requestId?: string;
}

declare module '../platform/database/outbox.ts' {
  interface OutboxEvents {
    DataPointsWritten: PointsWritten;
  }
}

/** The cause of a write, as far as it is known: a chain of calculations (`wave`), a request, or both. */
export type WriteOrigin = Pick<PointsWritten, 'wave' | 'requestId'>;

/**
 * Appends one `DataPointsWritten` event in the transaction of the write, or none when `ranges` is empty.
 * @param ranges changed dates, one range per changed variable; all variables belong to the account.
 */
export async function announcePoints(
  transaction: Transaction,
  accountId: number,
  ranges: readonly WrittenRange[],
  { wave, requestId }: WriteOrigin = {},
): Promise<void> {
  if (ranges.length === 0) return;
  const variables = ranges.map(({ variableId, fromMicros, toMicros, count }) => {
    return { variableId, from: formatInstant(fromMicros), to: formatInstant(toMicros), count };
  });
  const payload: PointsWritten = {
    variables,
    ...(wave !== undefined && { wave }),
    ...(requestId !== undefined && { requestId }),
  };
  await appendEvents(transaction, [{ accountId, type: 'DataPointsWritten', payload }]);
}
