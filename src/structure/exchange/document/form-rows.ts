/**
 * The rows of the list `forms` are the form definitions of the account. The entity type and the name of the form
 * together are the key of a row. A field refers to a built-in unit by id, and to a unit of the account by name.
 */
import type { ErrorDetail } from '../../../platform/errors.ts';
import { idSchema, lenientObject } from '../../../platform/http/lenient.ts';
import { describeIssue } from '../../../platform/http/schema-words.ts';
import { type EntityType, FORM_SHAPE, type FormGroup, groupsSchemaOf } from '../../forms/form-definition.ts';
import { pathTo, type StagedRow } from './parse-row.ts';
import { idOrName } from './row-schema.ts';

/** One row of the list `forms`. `groups` is required for a new form. */
export interface FormRow extends Readonly<Record<string, unknown>> {
  readonly entityType: EntityType;
  readonly name: string;
  readonly groups?: readonly DocumentGroup[] | null | undefined;
}

/** A group in which each field refers to its unit by id or by name. */
export type DocumentGroup = Omit<FormGroup, 'fields'> & {
  readonly fields: readonly (Omit<FormGroup['fields'][number], 'unitId'> & { readonly unitId?: unknown })[];
};

export const FORM_ROW_SHAPE = {
  entityType: FORM_SHAPE.entityType,
  name: FORM_SHAPE.name,
  groups: groupsSchemaOf(idOrName(idSchema)).nullish(),
};
const schema = lenientObject(FORM_ROW_SHAPE);

/** Parses a row. @returns the row, or its problems with their paths. */
export function parseFormRow(
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
  const { entityType, name } = result.data;
  return {
    ...{ kind: 'forms', place, site: undefined, source: undefined },
    self: { key: `~${entityType} ${name}`, occurrence: undefined },
    ...{ members: JSON.stringify(result.data), calculated: undefined },
  };
}
