/** `WatchPoints` (R-J1, R-J2): resolves the request and the cursor, then runs the watch in the hub. */
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { Caller } from '../../identity/caller/caller.ts';
import type { Database } from '../../platform/database/database.ts';
import { locationError } from '../../platform/http/input-location.ts';
import { type ChangePosition, findLastVersions } from '../../points/read/read-changes.ts';
import { type ResolvedSelection, resolveSelection } from '../../selection/selection.ts';
import { type AnswerServices, abortOnCancel, authenticateCall, authorizationOf, track } from '../answer.ts';
import { locationInMessage, type SelectionMessage, toSelection } from '../read-request.ts';
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
  /** Maximum variables of one watch. */
  readonly maxVariables: number;
}

/** Handles `WatchPoints` (R-J1, R-J2). */
export function watchPointsHandler(services: WatchServices) {
  return (call: ServerWritableStream<WatchPointsMessage, WatchMessage>): void => {
    const { signal: leaving } = abortOnCancel(call);
    const work = async (): Promise<number> => {
      const caller = await authenticateCall(services, call);
      const { selection, variables } = await resolve(services, caller, call.request);
      const positions = await findPositions(services.database, [...variables.keys()], call.request);
      const watch = new Watch(services.reading, {
        ...{ caller, variables, positions, leaving },
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
  throw locationError(locationInMessage('variableIds'), rule);
}

/**
 * The reader's position in each variable. A cursor ahead of the stored points was issued before the database was
 * restored from a backup. The reader has everything that is stored, so its position becomes the last write.
 * @throws {DomainError} invalid_input when the bytes are not a cursor.
 */
async function findPositions(
  database: Database,
  variableIds: readonly number[],
  { cursor, fromBeginning }: WatchPointsMessage,
): Promise<ReadonlyMap<number, ChangePosition>> {
  const known = cursor.length === 0 ? new Map<number, ChangePosition>() : decodeCursor(cursor);
  if (!known)
    throw locationError(locationInMessage('cursor'), 'must be the cursor of a WatchPoints message, unchanged');
  const lastVersions = await findLastVersions(database, variableIds);
  const positionOf = (variableId: number): ChangePosition => {
    const last = lastVersions.get(variableId);
    const now: ChangePosition = last === undefined ? AT_BEGINNING : { ...AT_BEGINNING, versionTimestamp: last };
    const position = known.get(variableId) ?? (fromBeginning ? AT_BEGINNING : now);
    return position.versionTimestamp > now.versionTimestamp ? now : position;
  };
  return new Map(variableIds.map((variableId) => [variableId, positionOf(variableId)]));
}
