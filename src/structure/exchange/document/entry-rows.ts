/**
 * The rows of the list `catalogues`: entries that an account added to its catalogues. The name identifies an entry
 * within its catalogue. An import processes this list first, because rows of other lists may refer to new entries.
 */
import { z } from 'zod';
import type { ErrorDetail } from '../../../platform/errors.ts';
import { enumerationSchema, lenientObject } from '../../../platform/http/lenient.ts';
import { numberedFrom0 } from '../../../platform/http/query-parameters.ts';
import { describeIssue } from '../../../platform/http/schema-words.ts';
import type { EntryCatalogue } from '../../catalogue/list-types.ts';
import { type EntryMember, OWN_CATALOGUES } from '../../catalogue/own-catalogues.ts';
import type { ENTRY_MEMBERS } from './kinds.ts';
import { pathTo, type StagedRow } from './parse-row.ts';

/** The catalogues in the order in which a document lists their entries: unit families come before units. */
export const CATALOGUE_NAMES = [
  ...['UnitFamily', 'Unit', 'SiteType', 'SourceType', 'EnergyType', 'EnergyUsage', 'VariableType', 'Feature'],
] as readonly ('UnitFamily' | 'Unit' | EntryCatalogue)[];
export type CatalogueName = (typeof CATALOGUE_NAMES)[number];

/** One row of the list `catalogues`. `unitFamily` is the name of a unit family; a row for a new unit requires it. */
export type EntryRow = { readonly catalogue: CatalogueName; readonly name: string } & Partial<
  Readonly<Record<Exclude<(typeof ENTRY_MEMBERS)[number], 'catalogue' | 'name'>, string | number>>
>;

/** The members that a row of each catalogue may have in addition to `catalogue` and `name`. */
export const MEMBERS_OF: Readonly<Record<CatalogueName, readonly string[]>> = {
  ...{ UnitFamily: [], Unit: ['symbol', 'unitFamily', 'divisor', 'offset'], VariableType: ['aggregate'] },
  ...{ SiteType: [], SourceType: [], EnergyType: [], EnergyUsage: [], Feature: [] },
};

const membersIn = (catalogue: CatalogueName): Readonly<Record<string, EntryMember>> =>
  OWN_CATALOGUES.find((own) => (own.catalogue ?? (own.table === 'unit' ? 'Unit' : 'UnitFamily')) === catalogue)
    ?.members ?? {};
const optional = (catalogue: CatalogueName, member: string): z.ZodType =>
  (membersIn(catalogue)[member]?.schema ?? z.never()).nullish();
const name = membersIn('UnitFamily').name?.schema ?? z.never();

export const ENTRY_SHAPE: Readonly<Record<string, z.ZodType>> = {
  catalogue: enumerationSchema(numberedFrom0(CATALOGUE_NAMES)),
  name,
  symbol: optional('Unit', 'symbol'),
  unitFamily: name
    .nullish()
    .meta({ description: 'For a unit: the name of its family. Required when the account does not have the unit yet.' }),
  divisor: optional('Unit', 'divisor'),
  offset: optional('Unit', 'offset'),
  aggregate: optional('VariableType', 'aggregate'),
};
const schema = lenientObject(ENTRY_SHAPE);

/** Parses a row. @returns the row, or its problems, each with the path of the wrong member. */
export function parseEntryRow(
  place: string,
  pathOf: (member: string) => string,
  value: unknown,
): StagedRow | { readonly problems: readonly ErrorDetail[] } {
  const result = schema.safeParse(value, { error: describeIssue });
  if (!result.success) {
    return {
      problems: result.error.issues.map(({ path, message }) => ({ path: pathTo(place, pathOf, path), message })),
    };
  }
  const members = Object.fromEntries(Object.entries(result.data).filter(([, member]) => member != null)) as EntryRow;
  const allowed = ['catalogue', 'name', ...MEMBERS_OF[members.catalogue]];
  const problems = Object.keys(members).flatMap((member) => {
    const message = `must be absent: entries of ${members.catalogue} have no ${member}`;
    return allowed.includes(member) ? [] : [{ path: pathOf(member), message }];
  });
  if (problems.length > 0) return { problems };
  const self = { key: `~${members.name}`, occurrence: undefined };
  return {
    ...{ kind: 'catalogues', place, site: undefined, source: undefined, self },
    ...{ members: JSON.stringify(members), calculated: undefined },
  };
}
