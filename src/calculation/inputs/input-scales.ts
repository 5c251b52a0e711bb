/** Conversion of an input into the unit declared for it (R-H1, R-C8). */
import type { Queryable } from '../../platform/database/database.ts';
import type { LinearScale } from '../../points/point.ts';
import { scaleBetween } from '../../structure/catalogue/unit-rules.ts';
import { findUnits, type UnitOfFamily } from '../../structure/catalogue/units.ts';

/** The unit of the variable that an input reads, and the unit that the declaration requests for the input. */
export interface UnitPair {
  readonly unitId: number | null;
  readonly wantedId: number | null | undefined;
}

export type FoundScale =
  | { readonly kind: 'ok'; readonly scale: LinearScale | undefined }
  | { readonly kind: 'invalid'; readonly message: string };

/**
 * @returns one result for each pair: the scale that converts the input, or the reason why the input cannot be converted
 * (R-C8). The scale is undefined when the units are equal or no unit is declared.
 */
export async function findInputScales(
  queryable: Queryable,
  accountId: number,
  pairs: readonly UnitPair[],
): Promise<readonly FoundScale[]> {
  const wanted = pairs.filter(({ unitId, wantedId }) => wantedId && wantedId !== unitId);
  const ids = new Set(wanted.flatMap(({ unitId, wantedId }) => [unitId ?? [], wantedId ?? []].flat()));
  const units = ids.size === 0 ? new Map() : await findUnits(queryable, accountId, [...ids]);
  return pairs.map(({ unitId, wantedId }): FoundScale => {
    if (!wantedId || wantedId === unitId) return { kind: 'ok', scale: undefined };
    const [from, to] = [units.get(unitId ?? 0), units.get(wantedId)];
    if (!to) return { kind: 'invalid', message: `must be the id of a unit that GET /units lists, got ${wantedId}` };
    if (from?.unitFamilyId === to.unitFamilyId) return { kind: 'ok', scale: scaleBetween(from, to) };
    const own = describeUnit(unitId, from);
    return { kind: 'invalid', message: `the variable ${own} cannot be converted into ${to.name}` };
  });
}

function describeUnit(unitId: number | null, found: UnitOfFamily | undefined): string {
  if (unitId === null) return 'has no unit, so its values';
  return found ? `is in ${found.name}, which` : `has the unit ${unitId}, which GET /units does not list, so its values`;
}
