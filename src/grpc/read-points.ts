/** `ReadPoints` (R-J1, R-J2): a stream of columnar chunks; a slow reader holds the query back, one that leaves ends it. */
import { randomUUID } from 'node:crypto';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { type Authentication, authenticateBearer } from '../identity/authenticate.ts';
import type { Caller } from '../identity/caller.ts';
import type { Database } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';
import type { Dictionary } from '../points/dictionary.ts';
import { streamAggregates } from '../points/read/aggregate-points.ts';
import { streamPoints } from '../points/read/read-points.ts';
import { findBuckets } from '../reading/buckets.ts';
import { resolveSelection } from '../reading/selection.ts';
import { aggregateMessage, BYTES_PER_VALUE, type PointChunkMessage, pointMessages } from './point-chunk.ts';
import { type ReadPointsMessage, toReadRequest } from './read-request.ts';
import { toStatus } from './status.ts';

export interface DataPointsServices {
  readonly database: Database;
  /** The pool answers are streamed from, a connection each for as long as its reader takes. */
  readonly readDatabase: Database;
  readonly dictionary: Dictionary;
  readonly authentication: Authentication;
  readonly log: Log;
}

type Call = ServerWritableStream<ReadPointsMessage, PointChunkMessage>;

export function readPointsHandler(services: DataPointsServices): (call: Call) => void {
  return (call) => {
    const requestId = String(call.metadata.get('x-request-id')[0] ?? randomUUID());
    const startMs = performance.now();
    answer(services, call).then(
      (points) => {
        const durationMs = Math.round(performance.now() - startMs);
        services.log.info({ requestId, method: 'ReadPoints', points, durationMs, isCancelled: call.cancelled }, 'call');
        call.end();
      },
      (error: unknown) => {
        // What a cancellation makes fail, fails for nobody.
        if (!call.cancelled) call.emit('error', toStatus(error, requestId, services.log));
      },
    );
  };
}

async function answer(services: DataPointsServices, call: Call): Promise<number> {
  const authorization = call.metadata.get('authorization')[0];
  const caller = await authenticateBearer(services.authentication, authorization?.toString(), 'datahub-api');
  const leaving = new AbortController();
  const cancelled = nextEvent(call, 'cancelled').then(() => leaving.abort());
  if (call.cancelled) leaving.abort();
  let points = 0;
  for await (const message of messagesOf(services, caller, call.request, leaving.signal)) {
    if (call.cancelled) break;
    points += message.pointCount;
    if (!call.write(message.chunk)) await Promise.race([nextEvent(call, 'drain'), cancelled]);
  }
  return points;
}

async function* messagesOf(
  { database, readDatabase, dictionary }: DataPointsServices,
  caller: Caller,
  message: ReadPointsMessage,
  signal: AbortSignal,
): AsyncGenerator<{ readonly chunk: PointChunkMessage; readonly pointCount: number }> {
  const request = toReadRequest(message);
  const { selection, variables } = await resolveSelection(database, caller, request);
  const buckets = findBuckets(request, variables);
  const unitOf = (variableId: number) => variables.get(variableId)?.unitId ?? null;
  if (buckets) {
    for await (const chunk of streamAggregates(readDatabase, selection, buckets, signal)) {
      yield { chunk: aggregateMessage(chunk, unitOf(chunk.variableId)), pointCount: chunk.dates.length };
    }
    return;
  }
  for await (const chunk of streamPoints(readDatabase, selection, signal)) {
    const labels = await dictionary.labelsOf([chunk]);
    for (const message of pointMessages(chunk, labels, unitOf(chunk.variableId))) {
      yield { chunk: message, pointCount: message.values.length / BYTES_PER_VALUE };
    }
  }
}

/** Unlike `events.once` it does not fail with an `error` event, which is how a call is answered. */
function nextEvent(call: Call, name: 'drain' | 'cancelled'): Promise<void> {
  return new Promise((resolve) => {
    call.once(name, () => resolve());
  });
}
