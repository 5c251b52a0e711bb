/**
 * Reads the catalogue of units (R-C8): built-in units, which only migrations change, and the units of an account. The
 * conversion of a unit never changes. So a second read of the same points in the same unit returns the same values, and
 * no process uses an outdated conversion.
 */
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

/** @returns an SQL condition: the row of `unit` or `unit_family` is built-in or belongs to the account. */
export const isOffered = (table: string, accountId: string) =>
  `(${table}.account_id is null or ${table}.account_id = ${accountId})`;

/** Lists every unit that an account may use, ordered by family. In a built-in family, the base unit is first (R-C8). */
export async function listUnits(queryable: Queryable, accountId: number): Promise<readonly Unit[]> {
  const { rows } = await queryable.query<Unit>(
    `select id, name, symbol, unit_family_id as "unitFamilyId", divisor, zero_offset as "offset"
     from unit where ${isOffered('unit', '$1')}
     order by unit_family_id, account_id is not null, divisor <> 1 or zero_offset <> 0, id`,
    [accountId],
  );
  return rows;
}

/** Lists the unit families that an account may use, in order of id (R-C8). */
export async function listUnitFamilies(queryable: Queryable, accountId: number): Promise<readonly UnitFamily[]> {
  const { rows } = await queryable.query<UnitFamily>(
    `select id, name from unit_family where ${isOffered('unit_family', '$1')} order by id`,
    [accountId],
  );
  return rows;
}

/**
 * Finds units by id, if the account may use them (R-C8).
 * @returns a map by unit id. It has no entry for an unknown id or for a unit of another account.
 */
export async function findUnits(
  queryable: Queryable,
  accountId: number,
  ids: readonly number[],
): Promise<ReadonlyMap<number, UnitOfFamily>> {
  const { rows } = await queryable.query<UnitOfFamily>(
    `select unit.id, unit.name, symbol, unit_family_id as "unitFamilyId", divisor, zero_offset as "offset",
            unit_family.name as "familyName"
     from unit join unit_family on unit_family.id = unit_family_id
     where unit.id = any($1::int[]) and ${isOffered('unit', '$2')}`,
    [ids, accountId],
  );
  return new Map(rows.map((unit) => [unit.id, unit]));
}
