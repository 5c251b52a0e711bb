/**
 * Builds an example value for a JSON Schema. An example object has only the members that the schema requires. When the
 * schema requires none, the object has a few optional members.
 */
import type { JsonSchema } from '../../../src/http/openapi/json-schemas.ts';

const COMPONENT = '#/components/schemas/';

function componentOf({ $ref }: JsonSchema): string | undefined {
  return typeof $ref === 'string' && $ref.startsWith(COMPONENT) ? $ref.slice(COMPONENT.length) : undefined;
}

type Components = Readonly<Record<string, JsonSchema>>;

// Limits that keep an example short: the maximum depth of nesting, and the maximum number of optional members in an
// object.
const MAX_DEPTH = 6;
const MAX_OPTIONAL = 4;

/** @returns plain JSON. */
export function exampleOf(schema: JsonSchema, components: Components, depth = 0): unknown {
  const component = componentOf(schema);
  if (component !== undefined) return exampleOf(components[component] ?? {}, components, depth);
  if (depth > MAX_DEPTH) return null;
  const { default: fallback, examples, const: only, enum: names, anyOf, oneOf, allOf } = schema;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (fallback !== undefined) return fallback;
  if (only !== undefined) return only;
  if (Array.isArray(names)) return names[0];
  const either = anyOf ?? oneOf;
  if (Array.isArray(either)) return exampleOf(either[0] as JsonSchema, components, depth);
  if (Array.isArray(allOf)) return Object.assign({}, ...allOf.map((part) => exampleOf(part, components, depth)));
  return exampleOfType([schema.type].flat()[0], schema, components, depth);
}

function exampleOfType(type: unknown, schema: JsonSchema, components: Components, depth: number): unknown {
  switch (type) {
    case 'object':
      return exampleObject(schema, components, depth);
    case 'array':
      return [exampleOf((schema.items ?? {}) as JsonSchema, components, depth + 1)];
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return 'text';
  }
}

function exampleObject({ properties = {}, required }: JsonSchema, components: Components, depth: number): unknown {
  const members = Object.entries(properties as Components);
  const needed = members.filter(([name]) => ((required ?? []) as readonly string[]).includes(name));
  const shown = needed.length > 0 ? needed : members.slice(0, MAX_OPTIONAL);
  return Object.fromEntries(shown.map(([name, member]) => [name, exampleOf(member, components, depth + 1)]));
}
