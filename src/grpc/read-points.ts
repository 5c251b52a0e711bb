/** `ReadPoints` (R-J1, R-J2): streams points, or aggregates by bucket, as columnar chunks. */
import type { Caller } from '../identity/caller/caller.ts';
import type { Database } from '../platform/database/database.ts';
import { streamAggregates } from '../points/buckets/aggregate-points.ts';
import type { Dictionary } from '../points/dictionary.ts';
import { streamPoints } from '../points/read/read-points.ts';
import { findBuckets } from '../selection/buckets.ts';
import { resolveSelection } from '../selection/selection.ts';
import { type AnswerServices, type Counted, streamHandler } from './answer.ts';
import { BYTES_PER_VALUE } from './columns.ts';
import { aggregateMessage, type PointChunkMessage, pointMessages } from './point-chunk.ts';
import { type ReadPointsMessage, toReadRequest } from './read-request.ts';

export interface ReadServices extends AnswerServices {
  readonly database: Database;
  /** Pool for streams; each holds a connection for as long as its reader takes. */
  readonly readDatabase: Database;
  readonly dictionary: Dictionary;
}

/** @returns the handler of the call. */
export function readPointsHandler(services: ReadServices) {
  return streamHandler(services, 'ReadPoints', (caller: Caller, message: ReadPointsMessage, signal) =>
    messagesOf(services, caller, message, signal),
  );
}

async function* messagesOf(
  { database, readDatabase, dictionary }: ReadServices,
  caller: Caller,
  request: ReadPointsMessage,
  signal: AbortSignal,
): AsyncGenerator<Counted<PointChunkMessage>> {
  const wanted = toReadRequest(request);
  const { selection, variables } = await resolveSelection(database, caller, wanted);
  const buckets = findBuckets(wanted, variables);
  const unitOf = (variableId: number) => variables.get(variableId)?.unitId ?? null;
  if (buckets) {
    for await (const chunk of streamAggregates(readDatabase, selection, buckets, signal)) {
      yield { message: aggregateMessage(chunk, unitOf(chunk.variableId)), count: chunk.dates.length };
    }
    return;
  }
  for await (const chunk of streamPoints(readDatabase, selection, signal)) {
    const labels = await dictionary.labelsOf([chunk]);
    for (const message of pointMessages(chunk, labels, unitOf(chunk.variableId))) {
      yield { message, count: message.values.length / BYTES_PER_VALUE };
    }
  }
}
