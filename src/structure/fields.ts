/** Schemas of the fields of sites, sources and variables (R-C4–C6, R-C11). */
import { z } from 'zod';
import { isStorableJson, isStorableText, STORABLE_RULE } from '../platform/database/storable-text.ts';
import { catalogueIdSchema, enumerationSchema, idSchema } from '../platform/http/lenient.ts';
import type { Field } from './resource.ts';

const MAX_TEXT = 1000;
const MAX_CLIENT_DATA_BYTES = 64 * 1024;

const textSchema = z.string().max(MAX_TEXT).refine(isStorableText, { error: STORABLE_RULE });

/** Any JSON object as it is: zod's own record leaves out a key `__proto__`. */
export const jsonObjectSchema = z
  .custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    { error: 'must be an object' },
  )
  .refine(isStorableJson, { error: STORABLE_RULE })
  .meta({ type: 'object' });

const clientDataSchema = jsonObjectSchema
  .refine((data) => Buffer.byteLength(JSON.stringify(data)) <= MAX_CLIENT_DATA_BYTES, {
    error: `must be at most ${MAX_CLIENT_DATA_BYTES} bytes of JSON`,
  })
  .meta({ description: `Anything, up to ${MAX_CLIENT_DATA_BYTES} bytes of JSON.` });

/** Text that must be there. */
export const nameField = (column: string): Field => ({
  column,
  schema: textSchema.min(1, 'must not be empty'),
  filterType: 'text',
});
/** Text that may be null. */
export const textField = (column: string): Field => ({
  column,
  schema: textSchema.nullable(),
  filterType: 'text',
});
/** A number of a catalogue, or null. */
export const idField = (column: string): Field => ({
  column,
  schema: catalogueIdSchema.nullable(),
  filterType: 'number',
});
/** A reference that must be there. */
export const referenceField = (column: string): Field => ({
  column,
  schema: idSchema,
  filterType: 'number',
});
/** An enumeration of R-C8, or null. */
export const enumerationField = (column: string, members: Readonly<Record<string, number>>): Field => ({
  column,
  schema: enumerationSchema(members).nullable(),
  members,
  filterType: 'number',
});
/** Any JSON object up to 64 KiB; null empties it. */
export const clientDataField: Field = {
  column: 'client_data',
  schema: clientDataSchema.nullable(),
  isJson: true,
};
