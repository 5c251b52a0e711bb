/**
 * Finds the variables of a watch request (R-J1), and the reader's position in each of these variables. Refuses the
 * request if the caller is not allowed to see one of its variables or sources.
 */
import type { Caller } from '../identity/caller/caller.ts';
import type { Database } from '../platform/database/database.ts';
import { type InputLocation, locationError } from '../platform/http/input-location.ts';
import type { LinearScale } from '../points/point.ts';
import { type ChangePosition, findLastVersions } from '../points/read/read-changes.ts';
import { type ReadName, type ReadRequest, type ReadVariable, resolveSelection } from '../selection/selection.ts';
import { AT_BEGINNING, decodeCursor } from './cursor.ts';

export interface WatchRequest extends Pick<ReadRequest, 'variableIds' | 'sourceIds' | 'unitId'> {
  readonly caller: Caller;
  /** Cursor of the last message that the reader received; empty when there is none. */
  readonly cursor: Uint8Array;
  /**
   * Where the reader starts in a variable that the cursor does not contain: true means before the first point of the
   * variable, false means after the last write to the variable.
   */
  readonly fromBeginning: boolean;
  readonly locationOf: (name: ReadName | 'cursor') => InputLocation;
  /** Maximum number of variables in one watch of this kind; ignored when it exceeds WATCH_MAX_VARIABLES. */
  readonly maxVariables?: number;
}

export interface ResolvedWatch {
  readonly variables: ReadonlyMap<number, ReadVariable>;
  readonly scales: ReadonlyMap<number, LinearScale> | undefined;
  /** Positions that the reader has reached, by variable id. */
  readonly positions: ReadonlyMap<number, ChangePosition>;
}

interface RequestServices {
  readonly database: Database;
  readonly config: { readonly WATCH_MAX_VARIABLES: number };
}

/**
 * @throws {DomainError} not_found when a variable or source does not exist or the caller may not see it; invalid_input
 * when the request names no variable and no source, when it selects too many variables, when a unit cannot be
 * converted, or when `cursor` does not come from a watch message or was altered.
 */
export async function resolveWatch(
  { database, config }: RequestServices,
  { caller, cursor, fromBeginning, maxVariables, ...asked }: WatchRequest,
): Promise<ResolvedWatch> {
  const latest = { versionTags: [], asOfMicros: undefined, relative: undefined, horizon: undefined, tags: [] };
  const every = { isEveryVersion: false, isToIncluded: false, order: 'ASC', offset: 0 } as const;
  const { selection, variables } = await resolveSelection(database, caller, { ...latest, ...every, ...asked });
  const max = Math.min(config.WATCH_MAX_VARIABLES, maxVariables ?? Number.POSITIVE_INFINITY);
  if (variables.size > max) {
    throw locationError(asked.locationOf('variableIds'), `must select at most ${max} variables, got ${variables.size}`);
  }
  const known = cursor.length === 0 ? new Map<number, ChangePosition>() : decodeCursor(cursor);
  if (!known) throw locationError(asked.locationOf('cursor'), 'must be the cursor of a watch message, unchanged');
  const positions = await findPositions(database, [...variables.keys()], known, fromBeginning);
  return { variables, scales: selection.scales, positions };
}

/**
 * Finds the reader's position in each variable. After a restore from a backup, a cursor can be later than the last
 * write. The position of the last write is then used.
 */
async function findPositions(
  database: Database,
  variableIds: readonly number[],
  known: ReadonlyMap<number, ChangePosition>,
  fromBeginning: boolean,
): Promise<ReadonlyMap<number, ChangePosition>> {
  const lastVersions = await findLastVersions(database, variableIds);
  const positionOf = (variableId: number): ChangePosition => {
    const last = lastVersions.get(variableId);
    const now: ChangePosition = last === undefined ? AT_BEGINNING : { ...AT_BEGINNING, versionTimestamp: last };
    const position = known.get(variableId) ?? (fromBeginning ? AT_BEGINNING : now);
    return position.versionTimestamp > now.versionTimestamp ? now : position;
  };
  return new Map(variableIds.map((variableId) => [variableId, positionOf(variableId)]));
}
