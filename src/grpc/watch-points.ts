/** `WatchPoints` (R-J1, R-J2): runs a watch with `src/watching/`, and sends the points as columns. */
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { Caller } from '../identity/caller/caller.ts';
import type { ReadVariable } from '../selection/selection.ts';
import { encodeOnce } from '../watching/message-builder.ts';
import type { WatchServer } from '../watching/open-watching.ts';
import type { WatchRequest } from '../watching/watch-request.ts';
import { type AnswerServices, abortOnCancel, authenticateCall, authorizationOf, track } from './answer.ts';
import { type PointRowsMessage, pointRows } from './messages/point-rows.ts';
import { type SelectionMessage, toSelection } from './read-request.ts';

interface WatchPointsMessage extends Pick<SelectionMessage, 'variableIds' | 'sourceId' | 'unitId'> {
  readonly cursor: Buffer;
  readonly fromBeginning: boolean;
}

interface WatchPointsAnswer {
  /** The points; absent in messages that have only a cursor, such as the first message and heartbeats. */
  readonly points?: PointRowsMessage;
  readonly cursor: Buffer;
}

/** Handles `WatchPoints` (R-J1, R-J2). */
export function watchPointsHandler(services: AnswerServices, watches: WatchServer) {
  const encode = encodeOnce(({ chunks, labels }, variables: ReadonlyMap<number, ReadVariable>) =>
    pointRows(chunks, labels, (variableId) => variables.get(variableId)?.unitId ?? null),
  );
  return (call: ServerWritableStream<WatchPointsMessage, WatchPointsAnswer>): void => {
    const { signal: leaving } = abortOnCancel(call);
    const work = async (known: (caller: Caller) => void): Promise<number> => {
      const caller = await authenticateCall(services, call);
      known(caller);
      return watches.run({
        request: toWatchRequest(caller, call.request),
        authorization: authorizationOf(call),
        sinkOf: (variables) => ({
          write: ({ points, cursor }, taken) =>
            call.write({ ...(points && { points: encode(points, variables) }), cursor }, taken),
        }),
        leaving,
      });
    };
    track(services, 'WatchPoints', call, work, (status) => call.emit('error', status));
  };
}

function toWatchRequest(
  caller: Caller,
  { variableIds, sourceId, unitId, cursor, fromBeginning }: WatchPointsMessage,
): WatchRequest {
  const asked = { variableIds, ...(sourceId !== undefined && { sourceId }), ...(unitId !== undefined && { unitId }) };
  const rest = { includeToBoundary: false, versions: [], tags: {}, everyVersion: false };
  const selection = toSelection({ ...asked, ...rest });
  const { variableIds: ids, sourceIds, unitId: unit, locationOf } = selection;
  return { caller, variableIds: ids, sourceIds, unitId: unit, cursor, fromBeginning, locationOf };
}
