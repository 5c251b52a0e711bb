/**
 * The declaration of a calculated variable (R-H1), as clients write it. `[{}]` is accepted: created empty, filled by a
 * later PUT. What this version cannot do yet is refused by name, never ignored: a script that silently gets other
 * inputs than declared would compute wrong numbers.
 */
import { z } from 'zod';
import { booleanSchema, enumerationSchema, idSchema, lenientObject } from '../platform/lenient.ts';
import { DATE_RULE, parseDate } from '../points/date-rules.ts';
import type { Micros } from '../points/point.ts';
import { GRANULARITY, PERIOD_TYPE, TIME_PERIOD } from '../structure/enumerations.ts';

const MAX_SCRIPT_CHARACTERS = 1_000_000;
const MAX_INPUTS = 200;

const aliasSchema = z
  .string()
  .max(100)
  .regex(/^[A-Za-z.][A-Za-z0-9._]*$/, 'must be a name R can use after $, such as gas or outdoor.temperature');

/** An ISO 8601 instant with a zone. */
export const instantSchema = z
  .string()
  .refine((text) => parseDate(text)?.isLocal === false, { error: `${DATE_RULE}, with a zone` });

/** A declared instant, to the microsecond. */
export function instantMicros(instant: string | null | undefined): Micros | undefined {
  return instant ? parseDate(instant)?.micros : undefined;
}

const scalarSchema = z.union([z.number(), z.string().max(10_000), z.boolean(), z.null()]);

const notYet = (what: string) =>
  z
    .unknown()
    .optional()
    .refine((value) => value === undefined || value === null || (Array.isArray(value) && value.length === 0), {
      error: `${what} is not available yet`,
    });

const inputSchema = lenientObject({
  alias: aliasSchema,
  variableId: idSchema,
  granularity: enumerationSchema(GRANULARITY)
    .nullish()
    .refine((value) => !value || value === 'Raw', { error: 'is not available yet: inputs are raw points' }),
  aggregation: notYet('aggregation of inputs'),
  periodType: enumerationSchema(PERIOD_TYPE).default('RelativeDate'),
  period: z.int().min(0).max(1_000_000).default(0),
  periodTimeBase: enumerationSchema(TIME_PERIOD).default('Hour'),
  fromAbsolutePeriod: instantSchema.nullish(),
  toAbsolutePeriod: instantSchema.nullish(),
  unitId: notYet('conversion of units'),
  canBeUsedAsATrigger: booleanSchema.default(true),
  version: z.string().min(1).max(200).nullish(),
  asOf: instantSchema.nullish(),
});

const formulaSchema = lenientObject({
  formula: z.string().max(MAX_SCRIPT_CHARACTERS).nullish(),
  validFrom: notYet('a validity period'),
  validUntil: notYet('a validity period'),
  variables: z.array(inputSchema).max(MAX_INPUTS).default([]),
  entities: notYet('a form value'),
  constants: z
    .array(lenientObject({ alias: aliasSchema, value: scalarSchema.default(null) }))
    .max(MAX_INPUTS)
    .default([]),
  schedule: notYet('a schedule'),
}).superRefine(refuseRepeatedAliases);

const declarationSchema = lenientObject({
  friendlyName: z.string().max(1000).nullish(),
  calculatedVariableFormulas: z.array(formulaSchema).max(1, 'several formulas are not available yet').default([]),
});

export type Declaration = z.output<typeof declarationSchema>;
export type InputDeclaration = Declaration['calculatedVariableFormulas'][number]['variables'][number];

/** Schema for `parseInput`; the paths of its errors are relative to the declaration. */
export const DECLARATION_SCHEMA = declarationSchema;

export interface Formula {
  readonly script: string;
  readonly inputs: readonly InputDeclaration[];
  readonly constants: readonly { readonly alias: string; readonly value: z.output<typeof scalarSchema> }[];
}

/** The formula to run; undefined while the declaration is still empty. */
export function findFormula(declaration: Declaration): Formula | undefined {
  const [formula] = declaration.calculatedVariableFormulas;
  if (!formula?.formula) return undefined;
  return { script: formula.formula, inputs: formula.variables, constants: formula.constants };
}

function refuseRepeatedAliases(
  formula: {
    readonly variables: readonly { readonly alias: string }[];
    readonly constants: readonly { readonly alias: string }[];
  },
  context: z.RefinementCtx,
): void {
  for (const kind of ['variables', 'constants'] as const) {
    const seen = new Set<string>();
    for (const [index, { alias }] of formula[kind].entries()) {
      if (seen.has(alias)) {
        context.addIssue({ code: 'custom', path: [kind, index, 'alias'], message: `${alias} is given twice` });
      }
      seen.add(alias);
    }
  }
}
