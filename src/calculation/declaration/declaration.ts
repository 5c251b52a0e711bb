/**
 * Schema of the declaration of a calculated variable (R-H1), as clients write it. `settleDeclaration` must convert the
 * dates first. The formulas `[{}]` are accepted: a client may create a variable with an empty formula, and fill in the
 * formula with a later PUT. A null member counts as absent, because a declaration that a client reads may contain
 * nulls, and clients post back what they read.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isStorableText, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import { DATE_RULE, parseDate } from '../../platform/dates/date-rules.ts';
import { booleanSchema, enumerationSchema, idSchema, lenientObject, showValue } from '../../platform/http/lenient.ts';
import { MAX_TEXT } from '../../platform/limits.ts';
import { MAX_VERSION } from '../../points/label-rules.ts';
import type { Micros } from '../../points/point.ts';
import { DURATION_RULE, parseDuration, parseRelative, RELATIVE_RULE } from '../../selection/duration-rules.ts';
import { AGGREGATE, GRANULARITY, PERIOD_TYPE, TIME_PERIOD } from '../../structure/catalogue/enumerations.ts';
import { FORM_PATH_RULE, parseFormPath } from '../inputs/form-path-rules.ts';
import { scheduleSchema } from '../schedule/schedule.ts';

const MAX_SCRIPT_CHARACTERS = 1_000_000;
const MAX_INPUTS = 200;
const MAX_FORMULAS = 100;
const MAX_NOTE_CHARACTERS = 2000;
const MAX_VERSION_TAGS = 100;

/** Kinds of owners of a form, with the numbers that clients may write instead. */
export const ENTITY_TYPE = { Site: 1, Source: 2 } as const;

/** Civil periods that a window can be widened to, numbered as in TIME_PERIOD. */
const ALIGNMENT = { Day: 4, Week: 5, Month: 6, Year: 7 } as const;

const aliasSchema = z
  .string()
  .max(100)
  .regex(/^[A-Za-z.][A-Za-z0-9._]*$/, {
    error: ({ input }) =>
      `must be an R name (an ASCII letter or dot, then ASCII letters, digits, dots and underscores), got ${JSON.stringify(input)}`,
  });

/** @returns schema parameters whose error message is the rule and the given value. A long value is truncated. */
const withRule = (rule: string) => ({
  error: ({ input }: { readonly input?: unknown }) => `${rule}, got ${showValue(input)}`,
});

/**
 * An instant. `settleDeclaration` converts a date without a zone to an instant before this schema reads the date
 * (R-A11).
 */
const instantSchema = z
  .string(withRule(DATE_RULE))
  .refine((text) => parseDate(text)?.isLocal === false, withRule(DATE_RULE))
  .meta({
    type: ['string', 'integer'],
    description:
      "A date without a time zone is in the local time of the calculated variable's source. It is stored as an instant.",
    examples: ['2026-03-01T00:15:00Z', '2026-03-01 00:15:00'],
  });

/** @returns the microseconds of a declared instant (R-H1); undefined when none is declared. */
export function instantMicros(instant: string | null | undefined): Micros | undefined {
  return instant ? parseDate(instant)?.micros : undefined;
}

/** Accepts an absent or null member and replaces it by `value`. */
const withDefault = <Schema extends z.ZodType>(schema: Schema, value: z.output<Schema>) =>
  schema.nullish().transform((given) => given ?? value);

const scalarSchema = z.union(
  [z.number(), z.string().max(10_000), z.boolean(), z.null()],
  withRule('must be a number, a string, true, false or null'),
);
const ONE_OR_LIST = withRule(`must be a string or a list of at most ${MAX_VERSION_TAGS} strings`);
const versionTagSchema = z.string().min(1).max(MAX_VERSION).refine(isStorableText, { error: STORABLE_RULE });

/** A tag, written `key:value` as in a read (R-G2). It selects the versions that have the tag. */
const tagSchema = z
  .string()
  .max(1000)
  .regex(/^[^:]+:/, { error: ({ input }) => `must be key:value, got ${JSON.stringify(input)}` });

// An input of a formula. `version`, `asOf`, `relativeVersion`, `horizon` and `tags` mean the same as in a read (R-G2).
const inputSchema = lenientObject({
  alias: aliasSchema,
  variableId: idSchema,
  granularity: withDefault(enumerationSchema(GRANULARITY), 'Raw'),
  aggregation: enumerationSchema(AGGREGATE).nullish(),
  periodType: withDefault(enumerationSchema(PERIOD_TYPE), 'RelativeDate'),
  period: withDefault(z.int().min(0).max(1_000_000), 0),
  periodTimeBase: withDefault(enumerationSchema(TIME_PERIOD), 'Hour'),
  alignTo: enumerationSchema(ALIGNMENT).nullish().meta({
    description:
      "Widens the window to whole civil periods in the time zone of the input's source. Output rows dated outside these periods are not stored; an AbsoluteDate window sets no such limit.",
  }),
  fromAbsolutePeriod: instantSchema.nullish(),
  toAbsolutePeriod: instantSchema.nullish(),
  unitId: idSchema.nullish(),
  canBeUsedAsATrigger: withDefault(booleanSchema, true),
  version: z.union([versionTagSchema, z.array(versionTagSchema).max(MAX_VERSION_TAGS)], ONE_OR_LIST).nullish(),
  asOf: instantSchema.nullish(),
  relativeVersion: z
    .string()
    .refine((text) => parseRelative(text) !== undefined, withRule(RELATIVE_RULE))
    .nullish(),
  horizon: z
    .string()
    .refine((text) => parseDuration(text) !== undefined, withRule(DURATION_RULE))
    .nullish(),
  tags: z.union([tagSchema, z.array(tagSchema).max(MAX_VERSION_TAGS)], ONE_OR_LIST).nullish(),
})
  .superRefine(refuseReversed('fromAbsolutePeriod', 'toAbsolutePeriod'))
  .superRefine(({ asOf, relativeVersion }, context) => {
    if (!asOf || !relativeVersion) return;
    context.addIssue({ code: 'custom', path: ['relativeVersion'], message: 'cannot be combined with asOf' });
  });

const entitySchema = lenientObject({
  alias: aliasSchema,
  entityType: enumerationSchema(ENTITY_TYPE),
  siteId: idSchema.nullish(),
  sourceId: idSchema.nullish(),
  path: z
    .string()
    .max(1000)
    .refine((text) => parseFormPath(text) !== undefined, withRule(FORM_PATH_RULE)),
  // No default: a default would change the hash of each declaration with an entity that lacks this member.
  canBeUsedAsATrigger: booleanSchema.nullish().meta({
    description:
      "Whether the variable is recalculated when the form value at `path` changes. The run covers the dates from the first point of the variable's inputs until now. Default: false.",
  }),
});

const constantSchema = lenientObject({ alias: aliasSchema, value: scalarSchema.default(null) });

const formulaSchema = lenientObject({
  formula: z.string().max(MAX_SCRIPT_CHARACTERS).nullish(),
  validFrom: instantSchema.nullish(),
  validUntil: instantSchema.nullish(),
  variables: withDefault(z.array(inputSchema).max(MAX_INPUTS), []),
  entities: withDefault(z.array(entitySchema).max(MAX_INPUTS), []),
  constants: withDefault(z.array(constantSchema).max(MAX_INPUTS), []),
  schedule: scheduleSchema.nullish(),
})
  .superRefine(refuseRepeatedAliases)
  .superRefine(refuseReversed('validFrom', 'validUntil', 'must be later than'));

const declarationShape = {
  friendlyName: z.string().max(MAX_TEXT).nullish(),
  calculatedVariableFormulas: withDefault(z.array(formulaSchema).max(MAX_FORMULAS), []),
};

/** Schema of a declaration, for `parseInput`. The paths in the schema's errors are relative to the declaration. */
export const DECLARATION_SCHEMA = lenientObject(declarationShape).superRefine(refuseSameBegin);

const noteSchema = z.string().max(MAX_NOTE_CHARACTERS).refine(isStorableText, { error: STORABLE_RULE }).nullish();

/** What a client sends to save a declaration (R-H12): the declaration, and a note that is not part of it. */
export const SAVED_DECLARATION_SCHEMA = lenientObject({
  ...declarationShape,
  note: noteSchema.meta({
    description:
      'Why the declaration was saved. The note is kept in the history of the variable and not returned with the declaration.',
  }),
})
  .superRefine(refuseSameBegin)
  .meta({
    id: 'Declaration',
    description:
      'How a variable is calculated: R formulas, the dates for which each is valid, and the inputs each reads.',
  });

export type Declaration = z.output<typeof DECLARATION_SCHEMA>;
export type FormulaDeclaration = Declaration['calculatedVariableFormulas'][number];
export type InputDeclaration = FormulaDeclaration['variables'][number];
export type Alignment = keyof typeof ALIGNMENT;
export type EntityDeclaration = FormulaDeclaration['entities'][number];

/** @returns whether the formula has a script (R-H1). A formula without a script is a draft and is not run. */
export function hasScript(formula: FormulaDeclaration | undefined): boolean {
  return formula?.formula !== undefined && formula.formula !== null && formula.formula.trim() !== '';
}

interface Aliased {
  readonly alias: string;
}

function refuseRepeatedAliases(
  formula: Readonly<Record<'variables' | 'entities' | 'constants', readonly Aliased[]>>,
  context: z.RefinementCtx,
): void {
  for (const kind of ['variables', 'entities', 'constants'] as const) {
    const seen = new Set<string>();
    for (const [index, { alias }] of formula[kind].entries()) {
      if (seen.has(alias)) {
        context.addIssue({
          code: 'custom',
          path: [kind, index, 'alias'],
          message: `must be unique, got ${alias} twice`,
        });
      }
      seen.add(alias);
    }
  }
}

function refuseReversed<From extends string, To extends string>(from: From, to: To, rule?: string) {
  const isWrong = (begin: Micros, end: Micros) => (rule === undefined ? end < begin : end <= begin);
  return (given: Readonly<Partial<Record<From | To, unknown>>>, context: z.RefinementCtx): void => {
    const [begin, end] = [given[from], given[to]].map((instant) => instantMicros(instant as string | null));
    if (begin === undefined || end === undefined || !isWrong(begin, end)) return;
    context.addIssue({
      code: 'custom',
      path: [to],
      message: `${rule ?? 'must not be earlier than'} ${from}, got ${given[to]}`,
    });
  };
}

/**
 * Refuses two formulas with the same `validFrom`. Where formulas overlap, the formula with the latest `validFrom`
 * applies.
 */
function refuseSameBegin(
  { calculatedVariableFormulas }: { readonly calculatedVariableFormulas: readonly FormulaDeclaration[] },
  context: z.RefinementCtx,
): void {
  const seen = new Map<Micros, number>();
  for (const [index, { validFrom }] of calculatedVariableFormulas.entries()) {
    const begin = instantMicros(validFrom) ?? Number.NEGATIVE_INFINITY;
    const other = seen.get(begin);
    if (other !== undefined) {
      const rule = `must differ from the validFrom of calculatedVariableFormulas[${other}], got ${validFrom ?? 'none'}`;
      const message = `${rule}; where formulas overlap, the formula with the later validFrom applies`;
      context.addIssue({ code: 'custom', path: ['calculatedVariableFormulas', index, 'validFrom'], message });
    }
    seen.set(begin, index);
  }
}

/** Version of the JSON text that `hashDeclaration` hashes; increase it when a change of the code changes this text. */
const FORM = 'v1';

/**
 * Names a declaration by its content (R-H12): equal declarations have equal hashes.
 * @returns `v1-` and a SHA-256 in hexadecimal. The declaration is hashed as JSON with sorted keys and without nulls.
 */
export function hashDeclaration(declaration: Declaration): string {
  const text = JSON.stringify(declaration, (_name, value: unknown) => sortKeys(value));
  return `${FORM}-${createHash('sha256').update(text).digest('hex')}`;
}

/** Sorts members and drops nulls: an absent member and a null member mean the same (R-H1). */
function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}
