/** OpenAPI description of the catalogue routes (R-A9, R-C8). */
import { z } from 'zod';
import {
  ALL_USERS,
  answersJson,
  answersNothing,
  jsonBody,
  MANAGERS,
  type Operation,
} from '../../platform/openapi/operation.ts';
import { CATALOGUE_LIST, UNIT_LIST } from './catalogue-routes.ts';
import { AGGREGATE, GRANULARITY, PERIOD_TYPE, QUANTITY_TYPE, TIME_PERIOD } from './enumerations.ts';
import type { Language } from './languages.ts';
import type { TimeZone } from './list-time-zones.ts';
import { FIRST_OWN_ID, OWN_CATALOGUES, type OwnCatalogue } from './own-catalogues.ts';
import { entrySchema } from './own-entries.ts';
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
      .meta({ description: 'Value in the base unit of the family = (value in this unit - offset) / divisor.' }),
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
  .object({
    id: z.string().meta({ description: 'ISO 639-1.' }),
    name: z.string().meta({ description: 'English name.' }),
  })
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
    query: CATALOGUE_LIST,
    isListing: true,
    answers: [answersJson('Catalogue entries, all of them or one page.', z.array(item))],
  };
}

const listUnits = catalogue('/units', 'listUnits', 'Units of measurement', unit);

export const CATALOGUE_OPERATIONS: readonly Operation[] = [
  { ...listUnits, query: UNIT_LIST },
  catalogue(
    '/unitFamily',
    'listUnitFamilies',
    'Unit families; units of one family can be converted into each other',
    unitFamily,
  ),
  catalogue('/timezones', 'listTimeZones', 'Time zones', timeZone),
  catalogue('/languages', 'listLanguages', 'Languages', language),
  catalogue('/variables/types', 'listVariableTypes', 'Types of variables', variableType),
  catalogue(
    '/granularity',
    'listGranularities',
    'Bucket lengths for aggregating points',
    numbered(namesOf(GRANULARITY)),
  ),
  catalogue('/timePeriods', 'listTimePeriods', 'Units of time', numbered(namesOf(TIME_PERIOD))),
  catalogue('/aggregates', 'listAggregates', 'Aggregate functions', numbered(namesOf(AGGREGATE))),
  catalogue('/quantityTypes', 'listQuantityTypes', 'Quantity types of variables', numbered(namesOf(QUANTITY_TYPE))),
  catalogue(
    '/variables/periodTypes',
    'listPeriodTypes',
    'Period types of calculation inputs',
    numbered(namesOf(PERIOD_TYPE)),
  ),
  catalogue('/sitetypes', 'listSiteTypes', 'Types of sites', numbered(z.string())),
  catalogue('/sourceTypes', 'listSourceTypes', 'Types of sources', numbered(z.string())),
  catalogue('/energyTypes', 'listEnergyTypes', 'Types of energy', numbered(z.string())),
  catalogue('/energyUsages', 'listEnergyUsages', 'Energy usages', numbered(z.string())),
];

const READ: Readonly<Record<string, z.ZodType>> = {
  '/units': unit,
  '/unitFamily': unitFamily,
  '/variables/types': variableType,
  '/account/features': numbered(z.string()),
};

/** Name that operation ids use for an entry of the catalogue, such as `Unit` in `createUnit`. */
const toOperationName = ({ label }: OwnCatalogue): string =>
  label.replaceAll(/(?:^| )([a-z])/g, (_match, letter: string) => letter.toUpperCase());

/** Describes the routes by which managers extend the catalogues of their account (R-C8). */
export const OWN_ENTRY_OPERATIONS: readonly Operation[] = OWN_CATALOGUES.flatMap((catalogue): readonly Operation[] => {
  const { path, label } = catalogue;
  const name = toOperationName(catalogue);
  const article = /^[aeiou](?!ni)/.test(label) ? 'an' : 'a';
  const common = { tag: 'Catalogues', access: MANAGERS } as const;
  const example = path === '/units' ? { name: 'crate', unitFamilyId: 32, divisor: 0.05 } : { name: `Own ${label}` };
  return [
    {
      ...{ method: 'post', path, operationId: `create${name}`, summary: `Add ${article} ${label} to the account` },
      ...common,
      description: `The name must be unique, ignoring case. The service assigns the id, which is at least ${FIRST_OWN_ID}. Other accounts do not see the entry.`,
      body: jsonBody(entrySchema(catalogue, true).meta({ id: `${name}Written`, examples: [example] })),
      answers: [answersJson('The entry.', READ[path] ?? numbered(z.string()))],
      errors: ['conflict'],
    },
    {
      ...{ method: 'put', path: `${path}/:id`, operationId: `update${name}`, ...common },
      summary: `Change ${article} ${label} of the account`,
      description:
        'Absent members keep their value. The conversion of a unit cannot change. Answers 409 for a built-in entry.',
      body: jsonBody(entrySchema(catalogue, false).meta({ id: `${name}Change`, examples: [{ name: `Own ${label}` }] })),
      answers: [answersNothing('Changed.')],
      errors: ['conflict'],
    },
    {
      ...{ method: 'delete', path: `${path}/:id`, operationId: `delete${name}`, ...common },
      summary: `Delete ${article} ${label} of the account`,
      description:
        'Answers 409 for a built-in entry or an entry in use. For an entry in use, the message names up to 5 of its uses.',
      answers: [answersNothing('Deleted.')],
      errors: ['conflict'],
    },
  ];
});
