/**
 * The definition of a form, as clients write and read it: groups of fields. A field has a type, a unit, choices and a
 * range. The value of a field is in `clientData` of a site, source or variable, at `<form>.<group>.<field>`.
 * `form-validator.ts` checks the values.
 */
import { z } from 'zod';
import { isStorableText, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import { parseInstant } from '../../platform/dates/date-rules.ts';
import { booleanSchema, enumerationSchema, idSchema, lenientObject, showValue } from '../../platform/http/lenient.ts';
import { MAX_NAME, MAX_TEXT } from '../../platform/limits.ts';
import type { Resource } from '../resource.ts';

/** Kinds of resources that have forms; `entityType` in the declaration of a calculation has the same numbers (R-H1). */
export const ENTITY_TYPE = { Site: 1, Source: 2, Variable: 3 } as const satisfies Record<Resource['kind'], number>;
export type EntityType = keyof typeof ENTITY_TYPE;

/** Types of fields, with their numbers. Shipped clients send these numbers, but none of them sends 3 (Boolean). */
export const FIELD_TYPE = { String: 0, Int: 1, Double: 2, Boolean: 3, Date: 5 } as const;
export type FieldType = keyof typeof FIELD_TYPE;

export const FORM_LIMITS = { formsPerKind: 100, groups: 100, fields: 300, items: 5000 } as const;

/** Names that forms, groups and fields may not have, because they have a meaning in JavaScript objects. */
const RESERVED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const nameSchema = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(MAX_NAME)
  .refine(isStorableText, { error: STORABLE_RULE })
  .refine((name) => !RESERVED.has(name), { error: `must not be one of ${[...RESERVED].join(', ')}` });

const itemSchema = lenientObject({
  name: z.string().max(MAX_TEXT).refine(isStorableText, { error: STORABLE_RULE }).nullish(),
  value: z.union([z.string().max(MAX_TEXT).refine(isStorableText, { error: STORABLE_RULE }), z.number(), z.boolean()], {
    error: ({ input }) => `must be a string, a number, true or false, got ${showValue(input)}`,
  }),
});

/** @param unitId schema that validates the member `unitId` of a field. */
const fieldSchemaOf = <Unit extends z.ZodType>(unitId: Unit) =>
  lenientObject({
    name: nameSchema,
    type: enumerationSchema(FIELD_TYPE),
    description: z.string().max(MAX_TEXT).refine(isStorableText, { error: STORABLE_RULE }).nullish(),
    isList: booleanSchema.nullish().meta({ description: 'Whether the value must be one of `items`.' }),
    items: z.array(itemSchema).max(FORM_LIMITS.items).nullish(),
    isRequired: booleanSchema
      .nullish()
      .meta({ description: 'Whether a resource that has values for the form must also have a value for this field.' }),
    minimum: z.number().nullish().meta({ description: 'Smallest value of an Int or Double field, inclusive.' }),
    maximum: z.number().nullish().meta({ description: 'Largest value of an Int or Double field, inclusive.' }),
    unitId: unitId.nullish().meta({ description: 'Unit of an Int or Double field.' }),
  })
    .superRefine(checkItems)
    .superRefine(checkRange);

const groupSchemaOf = <Unit extends z.ZodType>(unitId: Unit) =>
  lenientObject({ name: nameSchema, fields: z.array(fieldSchemaOf(unitId)) }).superRefine(({ fields }, context) =>
    refuseRepeated(fields, ['fields'], context),
  );

/**
 * @returns the schema of the groups of a form.
 * @param unitId schema of a field's unit: `idSchema`, or a schema that also accepts unit names for imports.
 */
export const groupsSchemaOf = <Unit extends z.ZodType>(unitId: Unit) =>
  z
    .array(groupSchemaOf(unitId))
    .max(FORM_LIMITS.groups)
    .superRefine((groups, context) => {
      refuseRepeated(groups, [], context);
      const fields = groups.flatMap((group) => group.fields);
      const items = fields.reduce((total, field) => total + (field.items?.length ?? 0), 0);
      const counts = [
        ['fields', fields.length, FORM_LIMITS.fields],
        ['items', items, FORM_LIMITS.items],
      ] as const;
      for (const [what, count, most] of counts) {
        if (count <= most) continue;
        context.addIssue({ code: 'custom', message: `must have at most ${most} ${what} in total, got ${count}` });
      }
    });

/** Schemas of the writable members of a form. */
export const FORM_SHAPE = {
  name: nameSchema,
  entityType: enumerationSchema(ENTITY_TYPE),
  groups: groupsSchemaOf(idSchema),
};

/** Schema of a new form. The entity type defaults to site, because shipped clients omit it for sites. */
export const NEW_FORM = lenientObject({
  ...FORM_SHAPE,
  entityType: z.preprocess((value) => value ?? 'Site', FORM_SHAPE.entityType),
});

/** Schema of a change of a form. A member that is absent or null in the change keeps its value in the form. */
export const CHANGED_FORM = lenientObject({
  name: FORM_SHAPE.name.nullish(),
  entityType: FORM_SHAPE.entityType.nullish(),
  groups: FORM_SHAPE.groups.nullish(),
});

export type FormGroup = z.output<typeof FORM_SHAPE.groups>[number];
export type FormField = FormGroup['fields'][number];

/** A form as clients read it. */
export interface Form {
  readonly id: number;
  readonly name: string;
  readonly entityType: EntityType;
  readonly groups: readonly FormGroup[];
  readonly createdDate: string;
  readonly modifiedDate: string;
}

type Context = z.RefinementCtx;

function refuseRepeated(named: readonly { readonly name: string }[], list: readonly string[], context: Context): void {
  const seen = new Set<string>();
  for (const [index, { name }] of named.entries()) {
    const key = name.toLowerCase();
    if (seen.has(key)) {
      context.addIssue({
        code: 'custom',
        path: [...list, index, 'name'],
        message: `must be unique, ignoring case; got ${name} twice`,
      });
    }
    seen.add(key);
  }
}

interface WrittenField {
  readonly type: FieldType;
  readonly isList?: boolean | null | undefined;
  readonly items?: readonly { readonly value: string | number | boolean }[] | null | undefined;
  readonly minimum?: number | null | undefined;
  readonly maximum?: number | null | undefined;
  readonly unitId?: unknown;
}

function checkItems({ type, isList, items }: WrittenField, context: Context): void {
  const count = items?.length ?? 0;
  if (isList && count === 0) {
    context.addIssue({ code: 'custom', path: ['items'], message: 'must have at least 1 item when isList is true' });
  }
  if (!isList && count > 0) {
    context.addIssue({ code: 'custom', path: ['isList'], message: 'must be true when the field has items' });
  }
  const seen = new Set<unknown>();
  for (const [index, { value }] of (items ?? []).entries()) {
    if (seen.has(value)) {
      const message = `must be unique, got ${showValue(value)} twice`;
      context.addIssue({ code: 'custom', path: ['items', index, 'value'], message });
    }
    seen.add(value);
    if (isOfType(type, value)) continue;
    const message = `${TYPE_RULES[type]}, got ${showValue(value)}`;
    context.addIssue({ code: 'custom', path: ['items', index, 'value'], message });
  }
}

function checkRange(field: WrittenField, context: Context): void {
  const { type, minimum, maximum } = field;
  const isNumeric = type === 'Int' || type === 'Double';
  for (const name of ['minimum', 'maximum', 'unitId'] as const) {
    if (isNumeric || field[name] === undefined || field[name] === null) continue;
    context.addIssue({ code: 'custom', path: [name], message: `must be absent for a field of type ${type}` });
  }
  if (typeof minimum === 'number' && typeof maximum === 'number' && minimum > maximum) {
    const message = `must not be less than minimum (${minimum}), got ${maximum}`;
    context.addIssue({ code: 'custom', path: ['maximum'], message });
  }
}

/** Rule for the values of each type, as error messages state it. */
export const TYPE_RULES: Readonly<Record<FieldType, string>> = {
  String: 'must be a string',
  Int: 'must be an integer',
  Double: 'must be a number',
  Boolean: 'must be true or false',
  Date: 'must be an ISO 8601 date such as 2026-03-01 or 2026-03-01T00:15:00Z',
};

/** @returns whether the value of an item (a choice that a field offers) has the type of the field. */
function isOfType(type: FieldType, value: unknown): boolean {
  switch (type) {
    case 'String':
      return typeof value === 'string';
    case 'Int':
      return Number.isInteger(value);
    case 'Double':
      return typeof value === 'number';
    case 'Boolean':
      return typeof value === 'boolean';
    case 'Date':
      return typeof value === 'string' && isIsoDate(value);
    default:
      return type satisfies never;
  }
}

/**
 * @returns whether `text` is a value of a Date field: an ISO 8601 date, or an ISO 8601 date and time with or without a
 *   zone.
 */
export function isIsoDate(text: string): boolean {
  return text.includes('-', 1) && parseInstant(text) !== undefined;
}
