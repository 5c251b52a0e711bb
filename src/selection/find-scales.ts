/** Conversion of the values of variables into the unit asked for (R-C8). */
import type { Queryable } from '../platform/database/database.ts';
import { DomainError, type ErrorDetail } from '../platform/errors.ts';
import { type Place, placeError } from '../platform/http/input-place.ts';
import type { LinearScale } from '../points/point.ts';
import { scaleBetween } from '../structure/catalogue/unit-rules.ts';
import { findUnits, type UnitOfFamily } from '../structure/catalogue/units.ts';

const MAX_DETAILS = 100;

/**
 * @returns the scale of each variable whose unit is another.
 * @throws DomainError invalid_input for a unit that does not exist, and naming every variable that has no unit, one
 *   that is not in the catalogue, or one of another family.
 */
export async function findScales(
  queryable: Queryable,
  variables: ReadonlyMap<number, { readonly unitId: number | null }>,
  unitId: number,
  place: Place,
): Promise<ReadonlyMap<number, LinearScale>> {
  const ids = [...variables.values()].flatMap((variable) => variable.unitId ?? []);
  const units = await findUnits(queryable, [...new Set([unitId, ...ids])]);
  const asked = units.get(unitId);
  if (!asked) throw placeError(place, `must be a unit of GET /units, got ${unitId}`);
  const scales = new Map<number, LinearScale>();
  const problems: ErrorDetail[] = [];
  for (const [variableId, { unitId: ownId }] of variables) {
    if (ownId === unitId) continue;
    const own = ownId === null ? undefined : units.get(ownId);
    if (own?.unitFamilyId === asked.unitFamilyId) scales.set(variableId, scaleBetween(own, asked));
    else problems.push({ path: place.path, message: describe(variableId, ownId, own, asked) });
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
  const into = `cannot be converted into ${nameUnit(asked)}`;
  if (ownId === null) return `variable ${variableId} has no unit and ${into}`;
  if (!own) return `variable ${variableId} has the unit ${ownId}, which is not in GET /units and ${into}`;
  return `variable ${variableId} is in ${nameUnit(own)}, which ${into}`;
}

/** `kilowatt hour (8, Energy)` */
function nameUnit({ name, id, familyName }: UnitOfFamily): string {
  return `${name} (${id}, ${familyName})`;
}
