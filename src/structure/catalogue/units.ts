/** Reads the catalogue of units (R-C8), which is small, shared by all accounts, and changed by migrations only. */
import type { Queryable } from '../../platform/database/database.ts';

export interface UnitFamily {
  readonly id: number;
  readonly name: string;
}

export interface Unit {
  readonly id: number;
  readonly name: string;
  readonly symbol: string;
  readonly unitFamilyId: number;
  readonly divisor: number;
  readonly offset: number;
}

/** A unit with the name of its family. */
export interface UnitOfFamily extends Unit {
  readonly familyName: string;
}

/** Lists every unit, by family, the base unit of each first (R-C8). */
export async function listUnits(queryable: Queryable): Promise<readonly Unit[]> {
  const { rows } = await queryable.query<Unit>(
    `select id, name, symbol, unit_family_id as "unitFamilyId", divisor, zero_offset as "offset"
     from unit order by unit_family_id, divisor <> 1 or zero_offset <> 0, id`,
  );
  return rows;
}

/** Lists the unit families by id (R-C8). */
export async function listUnitFamilies(queryable: Queryable): Promise<readonly UnitFamily[]> {
  const { rows } = await queryable.query<UnitFamily>('select id, name from unit_family order by id');
  return rows;
}

/** Returns the units with these ids by id; unknown ids are absent (R-C8). */
export async function findUnits(
  queryable: Queryable,
  ids: readonly number[],
): Promise<ReadonlyMap<number, UnitOfFamily>> {
  const { rows } = await queryable.query<UnitOfFamily>(
    `select unit.id, unit.name, symbol, unit_family_id as "unitFamilyId", divisor, zero_offset as "offset",
            unit_family.name as "familyName"
     from unit join unit_family on unit_family.id = unit_family_id where unit.id = any($1::int[])`,
    [ids],
  );
  return new Map(rows.map((unit) => [unit.id, unit]));
}
