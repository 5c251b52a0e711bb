/**
 * Writes the planned catalogue entries of an import, families before units, in the transaction that writes the rows of
 * the import.
 */
import type { Transaction } from '../../../../platform/database/database.ts';
import { AGGREGATE } from '../../../catalogue/enumerations.ts';

const rowsOf = (action: 'Created' | 'Changed', catalogues: string) =>
  `from structure_import_row r where r.import_id = $1 and r.kind = 'catalogues' and r.action = '${action}'
   and r.members ->> 'catalogue' ${catalogues}`;
const NAME = `r.members ->> 'name'`;
const SYMBOL = `r.members ->> 'symbol'`;
/**
 * SQL expression for the number of the aggregate that a row names. $3 is a JSON object that maps names of aggregates to
 * numbers.
 */
const AGGREGATE_NUMBER = `($3::jsonb ->> (r.members ->> 'aggregate'))::int`;

const STATEMENTS = [
  `insert into unit_family (id, account_id, name)
   select r.target_id, $2::int, ${NAME} ${rowsOf('Created', `= 'UnitFamily' and $3::jsonb is not null`)} order by r.ordinal`,
  `insert into unit (id, account_id, name, symbol, unit_family_id, divisor, zero_offset)
   select r.target_id, $2::int, ${NAME}, coalesce(${SYMBOL}, ''), (r.members ->> 'familyId')::int,
          coalesce((r.members ->> 'divisor')::float8, 1), coalesce((r.members ->> 'offset')::float8, 0)
   ${rowsOf('Created', `= 'Unit' and $3::jsonb is not null`)} order by r.ordinal`,
  `insert into catalogue_entry (id, account_id, catalogue, name, aggregate)
   select r.target_id, $2::int, r.members ->> 'catalogue', ${NAME},
          case r.members ->> 'catalogue' when 'VariableType' then coalesce(${AGGREGATE_NUMBER}, ${AGGREGATE.AVG}) end
   ${rowsOf('Created', `not in ('UnitFamily', 'Unit')`)} order by r.ordinal`,
  `update unit set symbol = given.symbol from (
     select r.target_id as id, ${SYMBOL} as symbol ${rowsOf('Changed', `= 'Unit' and $3::jsonb is not null`)}) given
   where unit.id = given.id and unit.account_id = $2`,
  `update catalogue_entry set aggregate = given.aggregate from (
     select r.target_id as id, ${AGGREGATE_NUMBER} as aggregate ${rowsOf('Changed', `= 'VariableType'`)}) given
   where catalogue_entry.id = given.id and catalogue_entry.account_id = $2`,
];

/** @throws a unique violation when another request has added an entry of the same name since the import was planned. */
export async function writeEntries(transaction: Transaction, importId: string, accountId: number): Promise<void> {
  for (const statement of STATEMENTS)
    await transaction.query(statement, [importId, accountId, JSON.stringify(AGGREGATE)]);
}
