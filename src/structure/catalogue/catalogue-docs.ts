/** The description of the catalogues (R-A9, R-C8). */
import { z } from 'zod';
import { ALL_USERS, answersJson, idsParameter, type Operation, PAGING } from '../../platform/openapi/operation.ts';
import { AGGREGATE, GRANULARITY, PERIOD_TYPE, QUANTITY_TYPE, TIME_PERIOD } from './enumerations.ts';
import type { Language } from './languages.ts';
import type { TimeZone } from './list-time-zones.ts';
import type { VariableType } from './types.ts';
import type { Unit, UnitFamily } from './units.ts';

const namesOf = <Name extends string>(members: Readonly<Record<Name, number>>) =>
  z.enum(Object.keys(members) as [Name, ...Name[]]);
const numbered = (name: z.ZodType<string>) => z.object({ id: z.int().min(0), name });

const unit = z
  .object({
    id: z.int(),
    name: z.string(),
    symbol: z.string(),
    unitFamilyId: z.int(),
    divisor: z
      .number()
      .meta({ description: 'A value divided by it, after the offset, is in the base unit of the family.' }),
    offset: z.number(),
  })
  .meta({ id: 'Unit' }) satisfies z.ZodType<Unit>;
const unitFamily = z
  .object({ id: z.int(), name: z.string() })
  .meta({ id: 'UnitFamily' }) satisfies z.ZodType<UnitFamily>;
const timeZone = z
  .object({ id: z.string().meta({ description: 'IANA name.' }), name: z.string() })
  .meta({ id: 'TimeZone' }) satisfies z.ZodType<TimeZone>;
const language = z
  .object({ id: z.string().meta({ description: 'ISO 639-1.' }), name: z.string().meta({ description: 'In English.' }) })
  .meta({ id: 'Language' }) satisfies z.ZodType<Language>;
const variableType = z
  .object({ id: z.int().min(0), name: z.string(), aggregate: namesOf(AGGREGATE) })
  .meta({ id: 'VariableType' }) satisfies z.ZodType<VariableType>;

function catalogue(path: string, operationId: string, summary: string, item: z.ZodType): Operation {
  return {
    method: 'get',
    ...{ path, operationId, summary },
    tag: 'Catalogues',
    access: ALL_USERS,
    query: PAGING,
    isListing: true,
    answers: [answersJson('The catalogue, or the page of it.', z.array(item))],
  };
}

const listUnits = catalogue('/units', 'listUnits', 'Units of measurement', unit);

export const CATALOGUE_OPERATIONS: readonly Operation[] = [
  { ...listUnits, query: { unitFamilyId: idsParameter('Only units of these families.'), ...PAGING } },
  catalogue('/unitFamily', 'listUnitFamilies', 'Families of units that convert into each other', unitFamily),
  catalogue('/timezones', 'listTimeZones', 'Time zones', timeZone),
  catalogue('/languages', 'listLanguages', 'Languages', language),
  catalogue('/variables/types', 'listVariableTypes', 'Types of variables', variableType),
  catalogue(
    '/granularity',
    'listGranularities',
    'Lengths of the buckets that points are aggregated in',
    numbered(namesOf(GRANULARITY)),
  ),
  catalogue('/timePeriods', 'listTimePeriods', 'Units of time', numbered(namesOf(TIME_PERIOD))),
  catalogue('/aggregates', 'listAggregates', 'Ways to aggregate', numbered(namesOf(AGGREGATE))),
  catalogue('/quantityTypes', 'listQuantityTypes', 'What values of a variable are', numbered(namesOf(QUANTITY_TYPE))),
  catalogue(
    '/variables/periodTypes',
    'listPeriodTypes',
    'How far inputs of a calculation reach',
    numbered(namesOf(PERIOD_TYPE)),
  ),
  catalogue('/sitetypes', 'listSiteTypes', 'Types of sites', numbered(z.string())),
  catalogue('/sourceTypes', 'listSourceTypes', 'Types of sources', numbered(z.string())),
  catalogue('/energyTypes', 'listEnergyTypes', 'Types of energy', numbered(z.string())),
  catalogue('/energyUsages', 'listEnergyUsages', 'What energy is used for', numbered(z.string())),
];
