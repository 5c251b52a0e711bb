/** `WatchPoints` (R-J1, R-J2): a stream of what is committed to chosen variables, from a cursor. */
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { Caller } from '../../identity/caller/caller.ts';
import type { Database } from '../../platform/database/database.ts';
import { placeError } from '../../platform/http/input-place.ts';
import { type ChangePosition, findLastVersions } from '../../points/read/read-changes.ts';
import { type ResolvedSelection, resolveSelection } from '../../selection/selection.ts';
import { type AnswerServices, abortOnCancel, authenticateCall, authorizationOf, track } from '../answer.ts';
import { placeInMessage, type SelectionMessage, toSelection } from '../read-request.ts';
import { AT_BEGINNING, decodeCursor } from './cursor.ts';
import { Watch, type WatchMessage, type WatchReading } from './watch.ts';
import type { WatchHub } from './watch-hub.ts';

export interface WatchPointsMessage extends Pick<SelectionMessage, 'variableIds' | 'sourceId' | 'unitId'> {
  readonly cursor: Buffer;
  readonly fromBeginning: boolean;
}

export interface WatchServices extends AnswerServices {
  readonly database: Database;
  readonly reading: WatchReading;
  readonly hub: WatchHub;
  /** Of one watch. */
  readonly maxVariables: number;
}

export function watchPointsHandler(services: WatchServices) {
  return (call: ServerWritableStream<WatchPointsMessage, WatchMessage>): void => {
    const { signal: leaving } = abortOnCancel(call);
    const work = async (): Promise<number> => {
      const caller = await authenticateCall(services, call);
      const { selection, variables } = await resolve(services, caller, call.request);
      const places = await findPlaces(services.database, [...variables.keys()], call.request);
      const watch = new Watch(services.reading, {
        ...{ caller, variables, places, leaving },
        authorization: authorizationOf(call),
        scales: selection.scales,
        sink: call,
      });
      return services.hub.run(watch);
    };
    track(services, 'WatchPoints', call, work, (status) => call.emit('error', status));
  };
}

async function resolve(
  { database, maxVariables }: WatchServices,
  caller: Caller,
  { variableIds, sourceId, unitId }: WatchPointsMessage,
): Promise<ResolvedSelection> {
  const asked = { variableIds, ...(sourceId !== undefined && { sourceId }), ...(unitId !== undefined && { unitId }) };
  const rest = { includeToBoundary: false, versions: [], tags: {}, everyVersion: false };
  const request = { ...toSelection({ ...asked, ...rest }), order: 'ASC', offset: 0 } as const;
  const resolved = await resolveSelection(database, caller, request);
  if (resolved.variables.size <= maxVariables) return resolved;
  const rule = `must be at most ${maxVariables}, got ${resolved.variables.size}`;
  throw placeError(placeInMessage('variableIds'), rule);
}

/**
 * Where the reader is in each variable. A cursor that is ahead of what is stored comes from before the database was set
 * back: the reader has all that is left, and what is written from now on is new to it.
 */
async function findPlaces(
  database: Database,
  variableIds: readonly number[],
  { cursor, fromBeginning }: WatchPointsMessage,
): Promise<ReadonlyMap<number, ChangePosition>> {
  const known = cursor.length === 0 ? new Map<number, ChangePosition>() : decodeCursor(cursor);
  if (!known) throw placeError(placeInMessage('cursor'), 'must be a cursor of a message of WatchPoints');
  const lastVersions = await findLastVersions(database, variableIds);
  const placeOf = (variableId: number): ChangePosition => {
    const last = lastVersions.get(variableId);
    const now: ChangePosition = last === undefined ? AT_BEGINNING : { ...AT_BEGINNING, versionTimestamp: last };
    const place = known.get(variableId) ?? (fromBeginning ? AT_BEGINNING : now);
    return place.versionTimestamp > now.versionTimestamp ? now : place;
  };
  return new Map(variableIds.map((variableId) => [variableId, placeOf(variableId)]));
}
