/** `ReadPoints` (R-J1, R-J2): streams columnar chunks that contain either points or the aggregates of buckets. */
import type { Caller } from '../identity/caller/caller.ts';
import type { Database } from '../platform/database/database.ts';
import type { ReadPool } from '../platform/database/read-pool.ts';
import { streamAggregates } from '../points/buckets/aggregate-points.ts';
import type { Dictionary } from '../points/dictionary.ts';
import { streamPoints } from '../points/read/read-points.ts';
import { findBuckets } from '../selection/buckets.ts';
import { resolveSelection } from '../selection/selection.ts';
import { type Counted, type SendMetadata, type StreamServices, streamHandler } from './answer.ts';
import { BYTES_PER_VALUE } from './messages/columns.ts';
import { aggregateMessage, type PointChunkMessage, pointMessages } from './messages/point-chunk.ts';
import { type ReadPointsMessage, toReadRequest } from './read-request.ts';
import { sendCuts } from './send-cuts.ts';

/** Number of columns with eight bytes per point: date, value and VersionTimestamp. */
const COLUMNS = 3;

export interface ReadServices extends StreamServices {
  readonly database: Database;
  /** Connections for reads, divided among accounts. */
  readonly reads: ReadPool;
  readonly dictionary: Dictionary;
}

/** Handles `ReadPoints` (R-J1, R-J2). */
export function readPointsHandler(services: ReadServices) {
  return streamHandler(services, 'ReadPoints', (caller: Caller, message: ReadPointsMessage, signal, send) =>
    messagesOf(services, caller, message, signal, send),
  );
}

async function* messagesOf(
  { database, reads, dictionary }: ReadServices,
  caller: Caller,
  request: ReadPointsMessage,
  signal: AbortSignal,
  send: SendMetadata,
): AsyncGenerator<Counted<PointChunkMessage>> {
  const wanted = toReadRequest(request);
  const { selection, variables } = await resolveSelection(database, caller, wanted);
  const buckets = findBuckets(wanted, variables);
  const source = reads.of(caller.accountId);
  const unitOf = (variableId: number) => variables.get(variableId)?.unitId ?? null;
  if (buckets) {
    for await (const chunk of streamAggregates(source, selection, buckets, signal, sendCuts(send))) {
      const count = chunk.dates.length;
      yield { message: aggregateMessage(chunk, unitOf(chunk.variableId)), count, bytes: 2 * BYTES_PER_VALUE * count };
    }
    return;
  }
  for await (const chunk of streamPoints(source, selection, signal, sendCuts(send))) {
    const labels = await dictionary.labelsOf([chunk]);
    for (const message of pointMessages(chunk, labels, unitOf(chunk.variableId))) {
      const bytes = message.values.length;
      yield { message, count: bytes / BYTES_PER_VALUE, bytes: COLUMNS * bytes };
    }
  }
}
