/**
 * Reads the values of forms of sites and sources (R-H1). A script receives the values as `inputForms`. An unset value
 * is NULL (R-H2).
 */
import type { Queryable } from '../../platform/database/database.ts';
import type { EntityDeclaration } from '../declaration/declaration.ts';
import type { SandboxScalar, ScalarValue } from '../sandbox/sandbox-types.ts';
import { parseFormPath } from './form-path-rules.ts';

export interface Home {
  readonly sourceId: number;
  readonly siteId: number;
}

export interface FormValues {
  /** Values that the script reads from forms, in the order in which the declaration lists them. */
  readonly forms: readonly SandboxScalar[];
  /** One warning for each entry of `inputForms` that is NULL because its site or source no longer exists. */
  readonly warnings: readonly string[];
}

/**
 * Reads the values of the declared forms (R-H2). A form declared without an id belongs to the variable's own site or
 * source. An object or a list becomes its JSON text.
 */
export async function loadFormValues(
  queryable: Queryable,
  entities: readonly EntityDeclaration[],
  home: Home,
): Promise<FormValues> {
  if (entities.length === 0) return { forms: [], warnings: [] };
  const wanted = entities.map((entity) => ({ ...entity, ...ownerOf(entity, home) }));
  const { rows } = await queryable.query<{ ordinal: number; value: unknown; isGone: boolean }>(
    `select ordinal, site.id is null and source.id is null as "isGone", coalesce(site.client_data, source.client_data) #> array(select jsonb_array_elements_text(path)) as value
     from unnest($1::text[], $2::int[], $3::jsonb[]) with ordinality wanted (kind, id, path, ordinal)
     left join site on wanted.kind = 'Site' and site.id = wanted.id
     left join source on wanted.kind = 'Source' and source.id = wanted.id`,
    [
      wanted.map(({ entityType }) => entityType),
      wanted.map(({ id }) => id),
      wanted.map(({ path }) => JSON.stringify(parseFormPath(path) ?? [])),
    ],
  );
  const found = new Map(rows.map((row) => [row.ordinal, row]));
  return {
    forms: entities.map(({ alias }, index) => ({ alias, value: toScalar(found.get(index + 1)?.value) })),
    warnings: wanted.flatMap(({ alias, entityType, id }, index) =>
      found.get(index + 1)?.isGone
        ? [`inputForms$${alias} is NULL: ${entityType.toLowerCase()} ${id} does not exist`]
        : [],
    ),
  };
}

/** @returns the id of the site or source that owns a declared form. */
export function ownerOf({ entityType, siteId, sourceId }: EntityDeclaration, home: Home): { readonly id: number } {
  return { id: entityType === 'Site' ? (siteId ?? home.siteId) : (sourceId ?? home.sourceId) };
}

/**
 * @returns the value as a script sees it (R-H2): NULL for an unset value, the JSON text for an object or a list, and
 * every other value unchanged.
 */
export function toScalar(value: unknown): ScalarValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean') return value;
  return JSON.stringify(value);
}
