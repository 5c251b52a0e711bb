/** Builders of query parameters (query.ts): each parameter parses its values and has an OpenAPI schema. */
import { z } from 'zod';
import { MOMENT_RULE, type ParsedMoment, parseMoment } from '../dates/date-rules.ts';
import { MAX_INT4 } from '../limits.ts';
import { type InputLocation, locationError } from './input-location.ts';
import type { GivenValue, QueryParameter } from './query.ts';
import { describeIssue } from './schema-words.ts';

const DIGITS = /^\d{1,10}$/;
const TRUE = /^(true|1)$/i;
const FALSE = /^(false|0)$/i;
const SEPARATED = 'To give several values, repeat the parameter or separate the values with commas.';

interface Range {
  /** Minimum, inclusive. */
  readonly min: number;
  /** Maximum, inclusive; default: 2^31 - 1. */
  readonly max?: number;
}

/** Declares a query parameter that is an integer in a range. */
export function integerParameter(
  description: string,
  range: Range & { readonly default: number },
): QueryParameter<number>;
export function integerParameter(description: string, range: Range): QueryParameter<number | undefined>;
export function integerParameter(
  description: string,
  { min, max = MAX_INT4, default: fallback }: Range & { readonly default?: number },
): QueryParameter<number | undefined> {
  const schema = z.int().min(min).max(max);
  return {
    description,
    schema: fallback === undefined ? schema : schema.default(fallback),
    read: (values, locationOf) => mapLast(values, (text) => toInteger(locationOf(), text, min, max)) ?? fallback,
  };
}

/**
 * Declares a parameter that lists positive 32-bit ids. A request repeats the parameter, or separates the ids with
 * commas. The value of an absent parameter is an empty list.
 */
export function idsParameter(description: string): QueryParameter<readonly number[]> {
  return {
    description: `${description} ${SEPARATED}`,
    schema: z.array(z.int().min(1).max(MAX_INT4)),
    read: (values, locationOf) => mapEach(values, (text, index) => toInteger(locationOf(index), text, 1, MAX_INT4)),
  };
}

/** Declares a flag: `true` or `1`, `false` or `0`, in any letter case. The value of an absent flag is false. */
export function flagParameter(description: string): QueryParameter<boolean> {
  return {
    description,
    schema: z.boolean().default(false),
    read: (values, locationOf) => mapLast(values, (text) => toBoolean(locationOf(), text)) ?? false,
  };
}

/** Declares a flag: `true` or `1`, `false` or `0`, in any letter case. The value of an absent flag is undefined. */
export function optionalFlagParameter(description: string): QueryParameter<boolean | undefined> {
  return {
    description,
    schema: z.boolean(),
    read: (values, locationOf) => mapLast(values, (text) => toBoolean(locationOf(), text)),
  };
}

/**
 * Declares a parameter whose value is one of `names`, in any letter case; the parsed value has the spelling of `names`.
 */
export function choiceParameter<const Name extends string>(
  description: string,
  names: readonly Name[],
  fallback: NoInfer<Name>,
): QueryParameter<Name>;
export function choiceParameter<const Name extends string>(
  description: string,
  names: readonly Name[],
): QueryParameter<Name | undefined>;
export function choiceParameter<const Name extends string>(
  description: string,
  names: readonly Name[],
  fallback?: Name,
): QueryParameter<Name | undefined> {
  return {
    description,
    schema: choiceSchema(names, fallback),
    read: (values, locationOf) => mapLast(values, (text) => toChoice(locationOf(), text, names)) ?? fallback,
  };
}

/**
 * Declares a parameter that lists some of `names`, in any letter case. The parsed values have the spelling of `names`.
 * The value of an absent parameter is an empty list.
 */
export function choicesParameter<const Name extends string>(
  description: string,
  names: readonly Name[],
): QueryParameter<readonly Name[]> {
  return {
    description: `${description} ${SEPARATED}`,
    schema: z.array(choiceSchema(names)),
    read: (values, locationOf) => mapEach(values, (text, index) => toChoice(locationOf(index), text, names)),
  };
}

/** Numbers the names of an enumeration from 0, in their order. */
export function numberedFrom0<const Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  return Object.fromEntries(names.map((name, number) => [name, number])) as Record<Name, number>;
}

/**
 * Declares a parameter that lists enumeration members, each given by its name in any letter case or by its number
 * (R-A3). The value of an absent parameter is an empty list.
 */
export function enumerationsParameter<Name extends string>(
  description: string,
  members: Readonly<Record<Name, number>>,
): QueryParameter<readonly Name[]> {
  const names = Object.keys(members) as Name[];
  return {
    description: `${description} ${SEPARATED} ${describeNumbers(members)}`,
    schema: z.array(choiceSchema(names)),
    read: (values, locationOf) => mapEach(values, (text, index) => toMember(locationOf(index), text, members)),
  };
}

/**
 * Declares a parameter whose value is one member of an enumeration, given by the member's name in any letter case or by
 * the member's number (R-A3).
 */
export function enumerationParameter<Name extends string>(
  description: string,
  members: Readonly<Record<Name, number>>,
  fallback: NoInfer<Name>,
): QueryParameter<Name>;
export function enumerationParameter<Name extends string>(
  description: string,
  members: Readonly<Record<Name, number>>,
): QueryParameter<Name | undefined>;
export function enumerationParameter<Name extends string>(
  description: string,
  members: Readonly<Record<Name, number>>,
  fallback?: Name,
): QueryParameter<Name | undefined> {
  const names = Object.keys(members) as Name[];
  return {
    description: `${description} ${describeNumbers(members)}`,
    schema: choiceSchema(names, fallback),
    read: (values, locationOf) => mapLast(values, (text) => toMember(locationOf(), text, members)) ?? fallback,
  };
}

function toMember<Name extends string>(
  location: InputLocation,
  text: string,
  members: Readonly<Record<Name, number>>,
): Name {
  const names = Object.keys(members) as Name[];
  return names.find((name) => String(members[name]) === text) ?? toChoice(location, text, names);
}

function describeNumbers(members: Readonly<Record<string, number>>): string {
  const numbers = Object.entries(members).map(([name, number]) => `${name} ${number}`);
  return `By name or by number: ${numbers.join(', ')}.`;
}

/**
 * Declares a text parameter. When a request repeats it, only the last value is read. The value must satisfy the schema.
 * An empty text counts as absent.
 */
export function textParameter(
  description: string,
  schema: z.ZodType<string> = z.string(),
): QueryParameter<string | undefined> {
  return {
    description,
    schema,
    read: (values, locationOf) =>
      mapLast(values, (text) => {
        const result = schema.safeParse(text, { error: describeIssue });
        if (result.success) return result.data;
        throw locationError(locationOf(), result.error.issues[0]?.message ?? 'is not valid');
      }),
  };
}

/**
 * Declares a parameter that lists texts. A request repeats the parameter once for each text. Empty texts are left out.
 * A value is not split at commas, because a text may contain commas.
 */
export function textsParameter(
  description: string,
  item: z.ZodType<string> = z.string(),
): QueryParameter<readonly string[]> {
  return {
    description,
    schema: z.array(item),
    read: (values) => values.flatMap(({ text }) => (text === '' ? [] : [text])),
  };
}

/**
 * Declares a parameter whose text has its own syntax.
 * @param parse returns undefined for a text that breaks the rule.
 * @param rule the rule in the error message, such as `must be an ISO 8601 duration`.
 */
export function parsedParameter<Value>(
  description: string,
  schema: z.ZodType,
  parse: (text: string) => Value | undefined,
  rule: string,
): QueryParameter<Value | undefined> {
  return {
    description,
    schema,
    read: (values, locationOf) =>
      mapLast(values, (text) => {
        const value = parse(text);
        if (value !== undefined) return value;
        throw locationError(locationOf(), `${rule}, got ${JSON.stringify(text)}`);
      }),
  };
}

/**
 * Declares a date parameter (R-A11). A date without a zone is converted later, when the zone of the request's dates is
 * known. An unescaped `+` of an offset arrives as a space, and is accepted.
 */
export function momentParameter(description: string): QueryParameter<ParsedMoment | undefined> {
  return parsedParameter(
    description,
    z.string().meta({ examples: ['2026-03-01', '2026-03-01T00:15:00Z'] }),
    (given) => parseMoment(given.replace(/(:\d{2}(?:[.,]\d+)?) (\d{2}:?\d{2})$/, '$1+$2')),
    MOMENT_RULE,
  );
}

/** Gives a parameter further names, and lists them in its description. The values under all names are combined. */
export function named<Value>(parameter: QueryParameter<Value>, ...aliases: readonly string[]): QueryParameter<Value> {
  const names = aliases.map((name) => `\`${name}\``).join(', ');
  return { ...parameter, aliases, description: `${parameter.description} Other names: ${names}.` };
}

/** Makes a parameter required: a request without the parameter gets status 400. */
export function required<Value>(parameter: QueryParameter<Value>): QueryParameter<Exclude<Value, undefined>> {
  return {
    ...parameter,
    isRequired: true,
    read: (values, locationOf) => {
      const value = parameter.read(values, locationOf);
      if (value === undefined) throw locationError(locationOf(), 'is required');
      return value as Exclude<Value, undefined>;
    },
  };
}

function mapLast<Value>(values: readonly GivenValue[], parse: (text: string) => Value): Value | undefined {
  const text = values.at(-1)?.text;
  return text ? parse(text) : undefined;
}

/** Parses the comma-separated parts of each value; `index` is the index of the value that contains the part. */
function mapEach<Value>(
  values: readonly GivenValue[],
  parse: (text: string, index: number) => Value,
): readonly Value[] {
  return values.flatMap(({ text }, index) => {
    const parts = text.split(',').flatMap((part) => part.trim() || []);
    return parts.map((part) => parse(part, index));
  });
}

function choiceSchema<Name extends string>(names: readonly Name[], fallback?: Name): z.ZodType {
  const choice = z.enum(names as unknown as [string, ...string[]]);
  return fallback === undefined ? choice : choice.default(fallback);
}

function toBoolean(location: InputLocation, text: string): boolean {
  if (TRUE.test(text)) return true;
  if (FALSE.test(text)) return false;
  throw locationError(location, `must be true or false, got ${JSON.stringify(text)}`);
}

function toChoice<Name extends string>(location: InputLocation, text: string, choices: readonly Name[]): Name {
  const choice = choices.find((candidate) => candidate.toLowerCase() === text.toLowerCase());
  if (choice !== undefined) return choice;
  throw locationError(location, `must be one of ${choices.join(', ')}, got ${JSON.stringify(text)}`);
}

function toInteger(location: InputLocation, text: string, min: number, max: number): number {
  const value = DIGITS.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw locationError(location, `must be an integer from ${min} to ${max}, got ${JSON.stringify(text)}`);
}
