/** `ReadPoints` (R-J1, R-J2): a stream of columnar chunks; a slow reader holds the query back, one that leaves ends it. */
import { randomUUID } from 'node:crypto';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { type Authentication, authenticateBearer } from '../identity/authenticate.ts';
import type { Database } from '../platform/database.ts';
import { DomainError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { Dictionary } from '../points/dictionary.ts';
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../points/instant-rules.ts';
import type { Micros } from '../points/point.ts';
import { streamPoints } from '../points/read-points.ts';
import { type ReadRequest, resolveSelection } from '../reading/selection.ts';
import { type PointChunkMessage, toMessage } from './point-chunk.ts';
import { toStatus } from './status.ts';

export interface DataPointsServices {
  readonly database: Database;
  /** The pool answers are streamed from, a connection each for as long as its reader takes. */
  readonly readDatabase: Database;
  readonly dictionary: Dictionary;
  readonly authentication: Authentication;
  readonly log: Log;
}

/** As proto-loader decodes it: absent optional members are missing, the others have their defaults. */
export interface ReadPointsMessage {
  readonly variableIds: readonly number[];
  readonly sourceId?: number;
  readonly fromMicros?: number;
  readonly toMicros?: number;
  readonly includeToBoundary: boolean;
  readonly versions: readonly string[];
  readonly asOfMicros?: number;
  readonly order: 'ASC' | 'DESC';
  readonly itemsPerPage: number;
  readonly pageNumber: number;
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
  const { database, readDatabase, dictionary, authentication } = services;
  const authorization = call.metadata.get('authorization')[0];
  const caller = await authenticateBearer(authentication, authorization?.toString(), 'datahub-api');
  const { selection } = await resolveSelection(database, caller, toReadRequest(call.request));
  const leaving = new AbortController();
  const cancelled = nextEvent(call, 'cancelled').then(() => leaving.abort());
  if (call.cancelled) leaving.abort();
  let points = 0;
  for await (const chunk of streamPoints(readDatabase, selection, leaving.signal)) {
    if (call.cancelled) break;
    points += chunk.dates.length;
    const labels = await dictionary.labelsOf([chunk]);
    if (!call.write(toMessage(chunk, labels))) await Promise.race([nextEvent(call, 'drain'), cancelled]);
  }
  return points;
}

/** Unlike `events.once` it does not fail with an `error` event, which is how a call is answered. */
function nextEvent(call: Call, name: 'drain' | 'cancelled'): Promise<void> {
  return new Promise((resolve) => {
    call.once(name, () => resolve());
  });
}

/** Clients ask for everything by the greatest number there is: beyond all dates is as good as the last of them. */
function toStorable(micros: Micros | undefined): Micros | undefined {
  return micros === undefined ? undefined : Math.min(Math.max(micros, MIN_DATE_MICROS), MAX_DATE_MICROS);
}

function toReadRequest(message: ReadPointsMessage): ReadRequest {
  const { itemsPerPage, pageNumber } = message;
  if (itemsPerPage < 0 || pageNumber < 0) {
    throw new DomainError('invalid_input', 'items_per_page and page_number must not be negative');
  }
  return {
    variableIds: [...new Set(message.variableIds)],
    sourceId: message.sourceId,
    fromMicros: toStorable(message.fromMicros),
    toMicros: toStorable(message.toMicros),
    isToIncluded: message.includeToBoundary,
    versionTags: message.versions,
    asOfMicros: toStorable(message.asOfMicros),
    order: message.order,
    limit: itemsPerPage === 0 ? undefined : itemsPerPage,
    offset: itemsPerPage * pageNumber,
  };
}
