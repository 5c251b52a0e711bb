/** The event every committed write of points leaves in the outbox: what follows from a write follows from it. */
import type { Transaction } from '../platform/database/database.ts';
import { appendEvents } from '../platform/database/outbox.ts';
import { formatInstant } from '../platform/dates/instant-rules.ts';
import type { WrittenRange } from './point.ts';

/** Payload of `DataPointsWritten`: per variable the first and last date written, both inclusive. */
export interface PointsWritten {
  readonly variables: readonly {
    readonly variableId: number;
    readonly from: string;
    readonly to: string;
    readonly count: number;
  }[];
  /** Id of the event that began the wave of calculations this write belongs to; absent when it begins one. */
  readonly wave?: number;
  /** Id of the request that led to the write; of several, of the first (R-A10). */
  readonly requestId?: string;
}

/** Where a write comes from. */
export type WriteOrigin = Pick<PointsWritten, 'wave' | 'requestId'>;

/** Announces what a write changed, in its transaction. */
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
