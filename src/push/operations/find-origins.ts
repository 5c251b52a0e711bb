/**
 * Finds the pushes that versions of points came from. A version belongs to a write; the record of the write lists the
 * push operations that the write stored.
 */
import type { Caller } from '../../identity/caller/caller.ts';
import type { Queryable } from '../../platform/database/database.ts';
import type { FoundWrite } from '../../points/origins/find-writes.ts';
import type { Positions } from '../../points/origins/variable-runs-codec.ts';
import { memberLabel } from '../store/operation-label.ts';

/** A push from which a version may have come (see `MAX_PUSHES`). Properties that the caller must not see are absent. */
export interface PushOrigin {
  readonly kind: 'Push';
  /**
   * When the caller is not allowed to read the operation, only `kind` and `acceptedDate` are present. When the
   * operation has been deleted, only `kind` is present.
   */
  readonly operationId?: string;
  readonly userId?: string;
  readonly acceptedDate?: string;
  readonly isReplay?: boolean;
}

interface OperationRow {
  readonly id: string;
  readonly label: string;
  readonly userId: string;
  readonly acceptedDate: string;
  readonly isReplay: boolean;
  readonly memberReadings: readonly number[] | null;
}

const FIND = `
  select id::text, label, user_id as "userId", accepted_date as "acceptedDate", is_replay as "isReplay",
         member_readings as "memberReadings"
  from push_operation where id = any($1::int8[]) and account_id = $2`;

/**
 * Maximum number of possible origins that are returned for one version. Several origins are possible when one write
 * stored several pushes.
 */
export const MAX_PUSHES = 20;

/**
 * Finds, for each write, the pushes that may have contained readings of the variable.
 * @returns one list per write: at most MAX_PUSHES pushes, in the order in which they took effect.
 */
export async function findPushOrigins(
  queryable: Queryable,
  caller: Caller,
  writes: readonly FoundWrite[],
): Promise<readonly (readonly PushOrigin[])[]> {
  const parts = writes.map(concernedParts);
  const ids = [...new Set(parts.flat().map(({ operationId }) => operationId))];
  const { rows } = await queryable.query<OperationRow>(FIND, [ids, caller.accountId]);
  const operations = new Map(rows.map((row) => [Number(row.id), row]));
  return parts.map((concerned) =>
    concerned.flatMap((part) => describe(operations.get(part.operationId), part, caller)).slice(0, MAX_PUSHES),
  );
}

/** One write can store the readings of several push operations. A `Part` describes the readings of one of them. */
interface Part {
  readonly operationId: number;
  /** Position of the operation's first reading among all readings of the write. */
  readonly start: number;
  /**
   * Number of readings that this operation contributed to the write; undefined if this operation contributed all
   * readings of the write.
   */
  readonly count: number | undefined;
  readonly positions: readonly Positions[];
}

/** @returns the parts of a write that have readings of the variable. */
function concernedParts({ operationIds, readingCounts, positions }: FoundWrite): readonly Part[] {
  let start = 0;
  return operationIds.flatMap((operationId, index) => {
    const count = readingCounts?.[index];
    const part = { operationId, start, count, positions };
    start += count ?? 0;
    return count === undefined || overlaps(positions, part.start, start) ? [part] : [];
  });
}

function overlaps(positions: readonly Positions[], start: number, end: number): boolean {
  return positions.some((position) => position.start < end && position.end > start);
}

function describe(operation: OperationRow | undefined, part: Part, caller: Caller): readonly PushOrigin[] {
  if (!operation) return [{ kind: 'Push' }];
  const { label, userId, acceptedDate, isReplay, memberReadings } = operation;
  if (!mayRead(caller, userId)) return [{ kind: 'Push', acceptedDate }];
  const labels = memberReadings ? concernedMembers(memberReadings, part).map((at) => memberLabel(label, at)) : [label];
  return labels.map((operationId) => ({
    ...{ kind: 'Push', operationId, userId, acceptedDate },
    ...(isReplay && { isReplay }),
  }));
}

/** Follows the rule of `GET /operations/{id}`: requires the scope push-data; a USER reads only their own operations. */
function mayRead({ scopes, role, userId }: Caller, owner: string): boolean {
  return scopes.has('push-data') && (role !== 'USER' || userId === owner);
}

/**
 * A shared operation consists of several pushes. Returns the indexes of those pushes that may have readings of the
 * variable. Returns all indexes if the write stored only some of the operation's readings.
 */
function concernedMembers(readings: readonly number[], { start, count, positions }: Part): readonly number[] {
  const total = readings.reduce((sum, own) => sum + own, 0);
  let end = start;
  return readings.flatMap((own, index) => {
    const begin = end;
    end += own;
    return (count !== undefined && count !== total) || overlaps(positions, begin, end) ? [index] : [];
  });
}
