/**
 * The fields of sites, sources and variables. The functions convert members of the REST API to the texts that the input
 * elements of the console show, and back. They have no side effects.
 */

export type Kind = 'Site' | 'Source' | 'Variable';

/** How the user sets the value of a field. For `entry`, the user chooses an entry of the catalogue `catalogue`. */
type Input =
  | { readonly input: 'text' | 'number' | 'tags' | 'flag' | 'zone' }
  | { readonly input: 'choice'; readonly choices: readonly string[] }
  | { readonly input: 'entry'; readonly catalogue: CatalogueName };

export type CatalogueName = 'units' | 'siteTypes' | 'sourceTypes' | 'energyTypes' | 'energyUsages' | 'variableTypes';
export type Field = Input & { readonly name: string; readonly isRequired?: boolean; readonly hint?: string };

export const TIME_BASES = ['Millisecond', 'Second', 'Minute', 'Hour', 'Day', 'Week', 'Month', 'Year'] as const;
export const QUANTITIES = ['Instantaneous', 'Integrated', 'Cumulative', 'Minimum', 'Maximum', 'Averaged'] as const;
const AGGREGATES = ['SUM', 'MIN', 'MAX', 'AVG', 'COUNT', 'VAR', 'STDEV'] as const;

const text = (name: string): Field => ({ name, input: 'text' });
const entry = (name: string, catalogue: CatalogueName): Field => ({ name, input: 'entry', catalogue });
const name: Field = { name: 'name', input: 'text', isRequired: true };

/** The fields in the order in which the console shows them. */
export const FIELDS: Readonly<Record<Kind, readonly Field[]>> = {
  Site: [
    name,
    { name: 'timeZoneId', input: 'zone', hint: 'siteTimeZoneId' },
    entry('typeId', 'siteTypes'),
    ...['externalId', 'street', 'postalCode', 'city', 'country', 'location'].map(text),
  ],
  Source: [
    name,
    ...['serialNumber', 'eanNumber', 'meterNumber'].map(text),
    entry('sourceTypeId', 'sourceTypes'),
    entry('energyTypeId', 'energyTypes'),
    entry('energyUsageId', 'energyUsages'),
    { name: 'timeZoneId', input: 'zone', hint: 'timeZoneId' },
    { name: 'tags', input: 'tags', hint: 'tags' },
    ...['localisation', 'meterAddress', 'description'].map(text),
  ],
  Variable: [
    text('name'),
    { name: 'mappingConfig', input: 'text', hint: 'mappingConfig' },
    entry('unitId', 'units'),
    { name: 'granularity', input: 'number', hint: 'granularity' },
    { name: 'granularityTimeBase', input: 'choice', choices: TIME_BASES },
    { name: 'isVersioned', input: 'flag' },
    { name: 'versionLimit', input: 'number' },
    entry('variableTypeId', 'variableTypes'),
    { name: 'quantityType', input: 'choice', choices: QUANTITIES },
    { name: 'aggregate', input: 'choice', choices: AGGREGATES },
    { name: 'divider', input: 'number' },
    { name: 'isDefault', input: 'flag', hint: 'isDefault' },
  ],
};

/** Members of a site, source or variable, or of its client data, as JSON. */
export type Members = Readonly<Record<string, unknown>>;
export type Texts = Readonly<Record<string, string>>;

/** @returns for every field of a site, source or variable, the text to show in its input element; '' for null. */
export function toTexts(kind: Kind, stored: Members): Texts {
  return Object.fromEntries(FIELDS[kind].map(({ name: member }) => [member, toText(stored[member])]));
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return Array.isArray(value) ? value.join(', ') : String(value);
}

/** @returns only the members whose text changed, so that a save leaves all other stored members alone. */
export function toChanges(kind: Kind, texts: Texts, saved: Texts): Members {
  return Object.fromEntries(
    FIELDS[kind].flatMap((field) => {
      const typed = texts[field.name] ?? '';
      if (typed === saved[field.name]) return [];
      const value = toMember(field, typed.trim());
      // Leaves an empty `timeZoneId` out of the request, because the API refuses to remove the time zone of a site. A
      // new site then gets the account's zone.
      return value === null && kind === 'Site' && field.input === 'zone' ? [] : [[field.name, value] as const];
    }),
  );
}

function toMember({ input, isRequired }: Field, typed: string): unknown {
  if (typed === '') return isRequired ? '' : null;
  switch (input) {
    case 'number':
      return toNumber(typed);
    case 'entry':
      return Number(typed);
    case 'flag':
      return typed === 'true';
    case 'tags':
      return typed
        .split(',')
        .map((tag) => tag.trim())
        .filter(Boolean);
    default:
      return typed;
  }
}

/**
 * @returns `typed` as a number. When `typed` is blank or not a number, returns the text unchanged, so that the service
 * refuses the text and states the reason.
 */
export function toNumber(typed: string): number | string {
  const value = Number(typed.replace(',', '.'));
  return typed.trim() !== '' && Number.isFinite(value) ? value : typed;
}
