/** Schemas of the rows of a document (kinds.ts): they validate imports, and describe exports and imports in OpenAPI. */
import { z } from 'zod';
import { integerFrom, lenientObject } from '../../../platform/http/lenient.ts';
import { jsonObjectSchema, textSchema } from '../../fields.ts';
import { writableShape } from '../../resource-input.ts';
import { CATALOGUE_MEMBERS, isEntryName } from './catalogue-members.ts';
import { type KeyMembers, KINDS, type KindName } from './kinds.ts';

const occurrence = integerFrom(1).nullish().meta({
  description:
    'Number that distinguishes resources with the same key under the same parent: 1 is the resource with the lowest id. Resources that the caller may not read do not count.',
});

/** Schema of a reference to a catalogue entry by id or name (see `catalogue-members.ts`). */
export function idOrName(schema: z.ZodType): z.ZodType {
  const name = textSchema.trim().min(1).refine(isEntryName);
  return z.union([schema, name], {
    error: 'must be an id or the name of a catalogue entry',
  });
}

/** Members that refer to a parent. All are optional here; `parse-row.ts` requires the identifier or the name. */
function referenceShape(members: KeyMembers): Record<string, z.ZodType> {
  const { own, name } = members;
  return { [own]: textSchema.nullish(), [name]: textSchema.nullish(), [members.occurrence]: occurrence };
}

/** @returns the schemas of the members of a row; each member is optional. */
export function rowShape(name: KindName): Readonly<Record<string, z.ZodType>> {
  const { resource, parents, self, fields } = KINDS[name];
  const shape = writableShape(resource, []);
  const members: Record<string, z.ZodType> = {};
  for (const parent of parents) Object.assign(members, referenceShape(parent));
  for (const field of fields) {
    const schema = shape[field] as z.ZodType;
    members[field] = Object.hasOwn(CATALOGUE_MEMBERS[name], field) ? idOrName(schema) : schema;
    if (field === 'name') members[self.occurrence] = occurrence;
  }
  if (name === 'variables') members.calculated = declarationSchema.nullish();
  return members;
}

const declarationSchema = jsonObjectSchema.meta({
  id: 'DocumentDeclaration',
  type: 'object',
  description:
    'A Declaration in which each input names a variable by `mappingConfig` or `variableName`. Without other members, the variable belongs to the source of the calculated variable. To name another source, add members of a row of `variables`, such as `sourceName`. To name a source of another site, add a member for the site too, such as `siteName`. An entry of `entities`, which reads a value of a form, names another site or source by the same members. In an export, a reference to a resource that was deleted or that the caller may not read keeps its id.',
});

/** Schemas of the rows that clients send. They accept member names in any letter case. */
export const ROW_SCHEMAS: Readonly<Record<KindName, z.ZodType<Record<string, unknown>>>> = {
  sites: lenientObject(rowShape('sites')) as z.ZodType<Record<string, unknown>>,
  sources: lenientObject(rowShape('sources')) as z.ZodType<Record<string, unknown>>,
  variables: lenientObject(rowShape('variables')) as z.ZodType<Record<string, unknown>>,
};
