/**
 * Generates random structures for property tests. Some rows have equal keys or equal names, and some names are hostile,
 * such as `=1+1`.
 */
import fc from 'fast-check';
import { isStorableText } from '../../../src/platform/database/storable-text.ts';

export type ModelRow = Readonly<Record<string, unknown>>;

export interface ModelStructure {
  /** The document to import. Its rows refer to each other by business keys. Each parent comes before its children. */
  readonly document: {
    readonly catalogues: readonly ModelRow[];
    readonly forms: readonly ModelRow[];
    readonly sites: readonly ModelRow[];
    readonly sources: readonly ModelRow[];
    readonly variables: readonly ModelRow[];
  };
  /** Each pair: the index of a calculated variable, then the index of an input of its formula. The pairs are sorted. */
  readonly inputs: readonly (readonly [reader: number, input: number])[];
}

const HOSTILE = [
  ...[
    '=1+1',
    '"q"',
    ' spaced ',
    '007',
    '1e5',
    'TRUE',
    'null',
    '2026-01-01',
    '[1]',
    'a|b',
    "'x",
    '_x000D_',
    '~A',
    '=A',
    '  ',
  ],
  ...['é😀', 'line\nbreak', 'tab\there', 'cr\r\nlf', '\u0001', '<b>&amp;</b>', '\uFEFF', '\u2028', ']]>', '__proto__'],
] as const;

const anyText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', maxLength: 6 }).filter(isStorableText),
  fc.string({ unit: 'grapheme', maxLength: 6 }).filter(isStorableText),
);
const nameText = fc.oneof(fc.constantFrom('A', 'B'), anyText).filter((text) => text !== '');
const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
const clientData = fc.dictionary(
  nameText,
  fc.oneof(anyText, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.jsonValue()),
  {
    maxKeys: 3,
  },
);
const isStorable = (value: unknown) =>
  isStorableText(JSON.stringify(value)) && !/\\u(0000|d[89a-f])/i.test(JSON.stringify(value));

const site = fc.record({
  name: nameText,
  externalId: optional(nameText.map((text) => text.trim() || 'E')),
  timeZoneId: fc.constantFrom('UTC', 'Europe/Brussels'),
  typeId: optional(fc.nat(9)),
  type: optional(fc.nat()),
  city: optional(anyText),
  clientData: clientData.filter(isStorable),
});
const source = fc.record({
  parent: fc.nat(),
  name: nameText,
  serialNumber: optional(anyText),
  timeZoneId: optional(fc.constantFrom('UTC', 'America/New_York')),
  description: optional(anyText),
  tags: fc.array(nameText, { maxLength: 3 }),
});
const variable = fc.record({
  parent: fc.nat(),
  name: anyText,
  mappingConfig: optional(anyText.map((text) => text.trim() || null)),
  divider: fc.oneof(
    fc.constant(1),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => number !== 0),
  ),
  granularity: optional(fc.integer({ min: 1, max: 1_000_000 })),
  unit: optional(fc.nat()),
  aggregate: optional(fc.constantFrom('SUM', 'MAX')),
  isVersioned: fc.boolean(),
  isDefault: fc.boolean(),
  reads: fc.array(fc.nat(), { maxLength: 3 }),
});

// Callers put a number before each name, so that names differ even when their letter case is ignored. Because of the
// `x` at the end, no name is a number.
const entryName = anyText.map((text) => `${text}x`.trim());
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const entries = fc.record({
  families: fc.array(entryName, { maxLength: 2 }),
  units: fc.array(
    fc.record({
      name: entryName,
      symbol: anyText.map((text) => text.trim()),
      divisor: finite.filter(Boolean),
      offset: finite,
    }),
    { maxLength: 3 },
  ),
  types: fc.array(entryName, { maxLength: 2 }),
});

const field = fc.oneof(
  fc.record({
    type: fc.constantFrom('Int', 'Double'),
    unit: optional(fc.nat()),
    minimum: fc.integer({ min: -9, max: 0 }),
    isRequired: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('String'),
    isList: fc.constant(true),
    items: fc.uniqueArray(fc.record({ name: optional(anyText), value: anyText }), {
      ...{ minLength: 1, maxLength: 3 },
      selector: ({ value }) => value,
    }),
    description: optional(anyText),
  }),
);
const form = fc.record({
  name: entryName,
  entityType: fc.constantFrom('Site', 'Source', 'Variable'),
  groups: fc.array(fc.array(field, { maxLength: 3 }), { maxLength: 2 }),
});
type ModelForm = typeof form extends fc.Arbitrary<infer T> ? T : never;

/** Converts forms to rows. Each form, group and field gets a name that begins with its position and so is unique. */
function toForms(forms: readonly ModelForm[], unitNames: readonly string[]): readonly ModelRow[] {
  return forms.map(({ name, entityType, groups }, index) => ({
    ...{ entityType, name: `${index} ${name}` },
    groups: groups.map((fields, group) => ({
      name: `${group} ${name}`,
      fields: fields.map((members, place) => {
        const unit = 'unit' in members && members.unit !== null ? members.unit : undefined;
        const { unit: _unit, ...rest } = { unit, ...members };
        const unitId = unit === undefined ? undefined : (unitNames[unit % unitNames.length] ?? 8);
        return { name: `${place} ${name}`, ...rest, ...(unitId !== undefined && { unitId }) };
      }),
    })),
  }));
}

/** Generates valid structures. An import accepts every row of such a structure. */
export const structures: fc.Arbitrary<ModelStructure> = fc
  .record({
    entries,
    forms: fc.array(form, { maxLength: 3 }),
    sites: fc.array(site, { minLength: 1, maxLength: 4 }),
    sources: fc.array(source, { minLength: 1, maxLength: 6 }),
    variables: fc.array(variable, { maxLength: 10 }),
  })
  .map(toStructure);

interface Keyed {
  readonly parent: number;
  readonly own: string | null;
  readonly name: string;
}

function toCatalogues({ families, units, types }: typeof entries extends fc.Arbitrary<infer T> ? T : never) {
  const numbered = (names: readonly string[]) => names.map((name, index) => `${index} ${name}`);
  const [familyNames, typeNames] = [numbered(families), numbered(types)];
  const unitNames = numbered(units.map(({ name }) => name));
  return {
    ...{ unitNames, typeNames },
    rows: [
      ...familyNames.map((name) => ({ catalogue: 'UnitFamily', name })),
      ...units.map(({ symbol, divisor, offset }, index) => ({
        ...{ catalogue: 'Unit', name: unitNames[index], symbol, unitFamily: familyNames[index] ?? 'Energy', divisor },
        // Adding 0 turns -0 into 0. A file has the text `0` for both, so an import cannot restore -0.
        offset: offset + 0,
      })),
      ...typeNames.map((name) => ({ catalogue: 'SiteType', name })),
    ],
  };
}

function toStructure(given: {
  readonly entries: typeof entries extends fc.Arbitrary<infer T> ? T : never;
  readonly forms: readonly ModelForm[];
  readonly sites: readonly (typeof site extends fc.Arbitrary<infer T> ? T : never)[];
  readonly sources: readonly (typeof source extends fc.Arbitrary<infer T> ? T : never)[];
  readonly variables: readonly (typeof variable extends fc.Arbitrary<infer T> ? T : never)[];
}): ModelStructure {
  const { unitNames, typeNames, rows: catalogues } = toCatalogues(given.entries);
  const pick = (names: readonly string[], index: number | null) =>
    index === null ? undefined : names[index % names.length];
  const siteKeys = occurrences(given.sites.map(({ externalId, name }) => ({ parent: 0, own: externalId, name })));
  const sourcesIn = given.sources.map((one) => ({ ...one, parent: one.parent % given.sites.length }));
  const sourceKeys = occurrences(
    sourcesIn.map(({ parent, serialNumber, name }) => ({ parent, own: serialNumber, name })),
  );
  const variablesIn = soleInSource(
    given.variables.map((one) => ({ ...one, parent: one.parent % given.sources.length })),
  );
  const variableKeys = occurrences(
    variablesIn.map(({ parent, mappingConfig, name }) => ({ parent, own: mappingConfig, name })),
  );
  const siteRef = (index: number) => reference(siteKeys[index], 'siteExternalId', 'siteName', 'siteOccurrence');
  const sourceRef = (index: number) => ({
    ...siteRef(sourcesIn[index]?.parent ?? 0),
    ...reference(sourceKeys[index], 'sourceSerialNumber', 'sourceName', 'sourceOccurrence'),
  });
  const inputs: (readonly [number, number])[] = [];
  const variables = variablesIn.map(({ parent, reads, unit, ...members }, index) => {
    const unitId = pick(unitNames, unit);
    const read = index === 0 ? [] : [...new Set(reads.map((one) => one % index))];
    inputs.push(...read.sort((a, b) => a - b).map((input) => [index, input] as const));
    const declared = read.map((input, place) => ({
      alias: `in${place}`,
      ...sourceRef(variablesIn[input]?.parent ?? 0),
      ...reference(variableKeys[input], 'mappingConfig', 'variableName', 'variableOccurrence'),
      ...{ periodType: 'RelativeDate', period: 1, periodTimeBase: 'Hour', canBeUsedAsATrigger: true },
    }));
    const calculated = read.length > 0 && { calculatedVariableFormulas: [{ formula: '1', variables: declared }] };
    return {
      ...sourceRef(parent),
      ...members,
      ...(unitId !== undefined && { unitId }),
      ...own(variableKeys[index]),
      ...(calculated && { calculated }),
    };
  });
  return {
    document: {
      catalogues,
      forms: toForms(given.forms, unitNames),
      sites: given.sites.map(({ type, ...members }, index) => {
        const typeId = pick(typeNames, type) ?? members.typeId;
        return { ...members, typeId, ...own(siteKeys[index]) };
      }),
      sources: sourcesIn.map(({ parent, ...members }, index) => ({
        ...siteRef(parent),
        ...members,
        ...own(sourceKeys[index]),
      })),
      variables,
    },
    inputs,
  };
}

/**
 * Makes each mappingConfig, and the default variable, unique within its source. Only the first variable with a
 * mappingConfig keeps it; for the others, mappingConfig becomes null. Only the first default variable stays the
 * default; for the others, isDefault becomes false.
 */
function soleInSource<
  V extends { readonly parent: number; readonly mappingConfig: string | null; readonly isDefault: boolean },
>(variables: readonly V[]): readonly V[] {
  const [taken, defaults] = [new Set<string>(), new Set<number>()];
  return variables.map((one) => {
    const id = `${one.parent} ${one.mappingConfig}`;
    const mappingConfig = taken.has(id) ? null : one.mappingConfig;
    const isDefault = one.isDefault && !defaults.has(one.parent);
    taken.add(id);
    if (isDefault) defaults.add(one.parent);
    return { ...one, mappingConfig, isDefault };
  });
}

interface NumberedKey extends Keyed {
  /** Position, from 1, among the resources with the same key and parent; undefined when the key is unique. */
  readonly occurrence: number | undefined;
}

/** Gives an occurrence number to each resource that has the same key as another resource of its parent. */
function occurrences(keys: readonly Keyed[]): readonly NumberedKey[] {
  const idOf = ({ parent, own: identifier, name }: Keyed) =>
    JSON.stringify([parent, identifier?.trim() ? `=${identifier}` : `~${name}`]);
  return keys.map((key, index) => {
    const same = keys.flatMap((other, place) => (idOf(other) === idOf(key) ? [place] : []));
    return { ...key, occurrence: same.length > 1 ? same.indexOf(index) + 1 : undefined };
  });
}

function own(key: NumberedKey | undefined): ModelRow {
  return key?.occurrence === undefined ? {} : { occurrence: key.occurrence };
}

function reference(key: NumberedKey | undefined, ownMember: string, nameMember: string, occurrence: string): ModelRow {
  return {
    ...(key?.own?.trim() ? { [ownMember]: key.own } : { [nameMember]: key?.name }),
    ...(key?.occurrence !== undefined && { [occurrence]: key.occurrence }),
  };
}
