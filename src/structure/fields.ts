/** Kinds of fields that sites, sources and variables share, with their schemas (R-C4–C6, R-C11). */
import { z } from 'zod';
import { isStorableJson, isStorableText, STORABLE_RULE } from '../platform/database/storable-text.ts';
import { catalogueIdSchema, enumerationSchema, idSchema } from '../platform/http/lenient.ts';
import { MAX_TEXT } from '../platform/limits.ts';
import type { Field } from './resource.ts';

const MAX_CLIENT_DATA_BYTES = 64 * 1024;

/** Text of at most 1000 characters that the database can store. */
export const textSchema = z.string().max(MAX_TEXT).refine(isStorableText, { error: STORABLE_RULE });

/** A JSON object that the database can store. `custom` keeps it unchanged; `z.record` would drop a key `__proto__`. */
export const jsonObjectSchema = z
  .custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    { error: 'must be an object' },
  )
  .refine(isStorableJson, { error: STORABLE_RULE })
  .meta({ type: 'object' });

function jsonBytes(data: unknown): number {
  return Buffer.byteLength(JSON.stringify(data));
}

const clientDataSchema = jsonObjectSchema
  .refine((data) => jsonBytes(data) <= MAX_CLIENT_DATA_BYTES, {
    error: ({ input }) => `must be at most ${MAX_CLIENT_DATA_BYTES} bytes as JSON, got ${jsonBytes(input)}`,
  })
  .meta({
    description: `A JSON object of at most ${MAX_CLIENT_DATA_BYTES} bytes. New values of a form must fit the form.`,
  });

/** Field with a required text that is not empty. */
export const nameField = (column: string): Field => ({
  column,
  schema: textSchema.min(1, 'must not be empty'),
  filterType: 'text',
});
/** Field with a text or null. */
export const textField = (column: string): Field => ({
  column,
  schema: textSchema.nullable(),
  filterType: 'text',
});
/** Field with the id of a catalogue entry, or null. The id may be 0 or more, because some catalogues start at 0. */
export const idField = (column: string): Field => ({
  column,
  schema: catalogueIdSchema.nullable(),
  filterType: 'number',
});
/** Field that holds the id of another resource and cannot be null. */
export const referenceField = (column: string): Field => ({
  column,
  schema: idSchema,
  filterType: 'number',
});
/** Field whose value is null or the name of a member of an enumeration (R-C8). */
export const enumerationField = (column: string, members: Readonly<Record<string, number>>): Field => ({
  column,
  schema: enumerationSchema(members).nullable(),
  members,
  filterType: 'number',
});
/** Field with a JSON object of at most 64 KiB; null clears the object. */
export const clientDataField: Field = {
  column: 'client_data',
  schema: clientDataSchema.nullable(),
  isJson: true,
};
