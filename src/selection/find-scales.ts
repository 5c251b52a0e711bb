/** Finds the conversion of each variable's unit into the requested unit (R-C8). */
import type { Queryable } from '../platform/database/database.ts';
import { DomainError, type ErrorDetail } from '../platform/errors.ts';
import { type InputLocation, locationError } from '../platform/http/input-location.ts';
import { MAX_DETAILS } from '../platform/http/lenient.ts';
import type { LinearScale } from '../points/point.ts';
import { scaleBetween } from '../structure/catalogue/unit-rules.ts';
import { findUnits, type UnitOfFamily } from '../structure/catalogue/units.ts';

/**
 * Finds the conversion of each variable into the requested unit (R-C8).
 * @param unitId id of the requested unit.
 * @returns the conversion by variable id, for variables whose unit is not the requested unit.
 * @throws {DomainError} invalid_input when the requested unit does not exist, or when a variable has no unit, an
 *   unlisted unit or a unit of another family. The error has one detail for each of the first 100 such variables.
 */
export async function findScales(
  queryable: Queryable,
  accountId: number,
  variables: ReadonlyMap<number, { readonly unitId: number | null }>,
  unitId: number,
  location: InputLocation,
): Promise<ReadonlyMap<number, LinearScale>> {
  const ids = [...variables.values()].flatMap((variable) => variable.unitId ?? []);
  const units = await findUnits(queryable, accountId, [...new Set([unitId, ...ids])]);
  const asked = units.get(unitId);
  if (!asked) throw locationError(location, `must be the id of a unit that GET /units lists, got ${unitId}`);
  const scales = new Map<number, LinearScale>();
  const problems: ErrorDetail[] = [];
  for (const [variableId, { unitId: ownId }] of variables) {
    if (ownId === unitId) continue;
    const own = ownId === null ? undefined : units.get(ownId);
    if (own?.unitFamilyId === asked.unitFamilyId) scales.set(variableId, scaleBetween(own, asked));
    else problems.push({ path: location.path, message: describe(variableId, ownId, own, asked) });
  }
  const [first] = problems;
  if (first) throw new DomainError('invalid_input', first.message, problems.slice(0, MAX_DETAILS));
  return scales;
}

function describe(
  variableId: number,
  ownId: number | null,
  own: UnitOfFamily | undefined,
  asked: UnitOfFamily,
): string {
  const wanted = nameUnit(asked);
  if (ownId === null) return `variable ${variableId} has no unit, so its values cannot be converted into ${wanted}`;
  if (!own)
    return `variable ${variableId} has the unit ${ownId}, which GET /units does not list, so its values cannot be converted into ${wanted}`;
  return `variable ${variableId} is in ${nameUnit(own)}, which cannot be converted into ${wanted}`;
}

/** Names a unit as in `kilowatt hour (8, Energy)`. */
function nameUnit({ name, id, familyName }: UnitOfFamily): string {
  return `${name} (${id}, ${familyName})`;
}
