/** Reads variables: the members that scripts see (R-H2), and other members that a run needs. */
import type { Queryable } from '../../platform/database/database.ts';
import {
  AGGREGATE,
  type Aggregate,
  defaultAggregate,
  nameOf,
  QUANTITY_TYPE,
  TIME_PERIOD,
} from '../../structure/catalogue/enumerations.ts';
import type { VariableInfo } from '../sandbox/sandbox-types.ts';

export interface KnownVariable {
  readonly info: VariableInfo;
  readonly timeZoneId: string;
  readonly siteId: number;
  readonly unitId: number | null;
  readonly accountId: number;
  /** Aggregate function for the variable's points, used when an input names no aggregate function (R-C8). */
  readonly aggregate: Aggregate;
}

interface Row {
  readonly id: number;
  readonly name: string;
  readonly sourceId: number;
  readonly siteId: number;
  readonly unitId: number | null;
  readonly accountId: number;
  readonly granularity: number | null;
  readonly timeBase: number | null;
  readonly quantityType: number | null;
  readonly aggregate: number | null;
  readonly timeZoneId: string;
}

/** @returns a map from variable id to variable; it has no entry for a variable that does not exist (R-H2). */
export async function findVariables(
  queryable: Queryable,
  variableIds: readonly number[],
): Promise<ReadonlyMap<number, KnownVariable>> {
  const { rows } = await queryable.query<Row>({
    name: 'calculation-variables',
    text: `select variable.id, variable.name, variable.source_id as "sourceId", source.site_id as "siteId",
             variable.unit_id as "unitId", variable.account_id as "accountId", variable.granularity, variable.granularity_time_base as "timeBase",
             variable.quantity_type as "quantityType", variable.aggregate,
             coalesce(source.time_zone_id, site.time_zone_id) as "timeZoneId"
           from variable join source on source.id = variable.source_id join site on site.id = source.site_id
           where variable.id = any($1::int[])`,
    values: [variableIds],
  });
  return new Map(rows.map((row) => [row.id, toKnown(row)]));
}

function toKnown({
  siteId,
  unitId,
  accountId,
  timeBase,
  quantityType,
  aggregate,
  timeZoneId,
  ...row
}: Row): KnownVariable {
  const quantity = nameOf(QUANTITY_TYPE, quantityType);
  const own = nameOf(AGGREGATE, aggregate);
  const info: VariableInfo = {
    ...row,
    granularityTimeBase: nameOf(TIME_PERIOD, timeBase),
    quantityType: quantity,
    aggregate: own,
    sourceTimeZoneId: timeZoneId,
  };
  return { info, timeZoneId, siteId, unitId, accountId, aggregate: own ?? defaultAggregate(quantity) };
}
