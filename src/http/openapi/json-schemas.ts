/** Converts zod schemas to JSON Schema 2020-12, the dialect of OpenAPI 3.1. A schema with an id becomes a component. */
import { z } from 'zod';

export type JsonSchema = { readonly [Name in string]?: unknown };

/** `input` for what clients send, `output` for what clients receive. */
export type Direction = 'input' | 'output';

export interface SchemaCollector {
  /** @returns the schema, or a reference to its component. @throws Error when another schema has the same id. */
  toJsonSchema(schema: z.ZodType, direction: Direction): JsonSchema;
  /** Components that `toJsonSchema` has made so far. The key is the id of the component. */
  readonly components: Readonly<Record<string, JsonSchema>>;
}

const DEFINITIONS = '#/$defs/';
const COMPONENTS = '#/components/schemas/';

/**
 * Starts a collection of components. A zod schema with an id becomes one component. If its JSON Schema for input
 * differs from its JSON Schema for output, use the zod schema for one of the two directions only.
 */
export function collectSchemas(): SchemaCollector {
  const components: Record<string, JsonSchema> = {};
  return {
    components,
    toJsonSchema: (schema, direction) => {
      // Wraps `schema` in an object, because zod makes no definition of a root schema.
      const whole = z.toJSONSchema(z.object({ schema }), { io: direction, unrepresentable: 'any', override: tidy });
      const { $defs = {}, properties } = whole as unknown as Wrapped;
      for (const [id, definition] of Object.entries($defs)) addComponent(components, id, finish(definition));
      return finish(properties.schema) as JsonSchema;
    },
  };
}

interface Wrapped {
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly properties: { readonly schema: JsonSchema };
}

/** Changes the JSON Schema that zod produces, so that it meets the expectations of client generators. */
function tidy({ zodSchema, jsonSchema }: Converted): void {
  // Answers may get new members later, so the published schemas admit unknown members. The tests of this service are
  // stricter on purpose: they fail when an answer has a member that its schema does not list.
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  // zod writes `id`, which JSON Schema does not define.
  delete jsonSchema.id;
  nameMembers(jsonSchema);
  // Client generators assume that a member with a default is always present. But a member whose default is null may be
  // absent, so its default is left out of the JSON Schema.
  if (jsonSchema.default === null) delete jsonSchema.default;
  // zod omits the examples of an input schema with a transform, because it assumes that they are outputs of the
  // transform. The examples in this service are inputs, so they are added here.
  const examples = z.globalRegistry.get(zodSchema as z.ZodType)?.examples;
  if (examples !== undefined) jsonSchema.examples = examples;
}

/**
 * In the schema of a record with known keys, replaces `propertyNames` by one property per key, because validators and
 * generators ignore `propertyNames`.
 */
function nameMembers(jsonSchema: Record<string, unknown>): void {
  const { propertyNames, additionalProperties: value } = jsonSchema;
  const names = (propertyNames as { readonly enum?: readonly string[] } | undefined)?.enum;
  if (!names || typeof value !== 'object') return;
  delete jsonSchema.propertyNames;
  delete jsonSchema.additionalProperties;
  jsonSchema.properties = Object.fromEntries(names.map((name) => [name, value]));
}

interface Converted {
  readonly zodSchema: unknown;
  readonly jsonSchema: Record<string, unknown>;
}

function addComponent(components: Record<string, JsonSchema>, id: string, definition: unknown): void {
  const known = components[id];
  if (known && JSON.stringify(known) !== JSON.stringify(definition))
    throw new Error(`two JSON schemas have the id ${id}; a schema whose input and output differ needs two ids`);
  components[id] = definition as JsonSchema;
}

/** Makes references point to components instead of definitions, and writes a nullable schema as a list of types. */
function finish(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(finish);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => {
    const isReference = name === '$ref' && typeof member === 'string';
    return [name, isReference ? member.replace(DEFINITIONS, COMPONENTS) : finish(member)] as const;
  });
  return withNull(Object.fromEntries(members));
}

/** `{anyOf: [{type: 'string', …}, {type: 'null'}]}` → `{type: ['string', 'null'], …}`. */
function withNull({ anyOf, ...others }: Record<string, unknown>): JsonSchema {
  if (anyOf === undefined) return others;
  const [first, second, ...more] = anyOf as readonly JsonSchema[];
  const isNullable = second?.type === 'null' && Object.keys(second).length === 1 && more.length === 0;
  // An `anyOf` with an empty schema accepts every value, so the `anyOf` is left out.
  if (isNullable && first && Object.keys(first).length === 0 && Array.isArray(others.type)) return others;
  if (!isNullable || typeof first?.type !== 'string') return { anyOf, ...others };
  const { enum: names } = first;
  return { ...first, type: [first.type, 'null'], ...(Array.isArray(names) && { enum: [...names, null] }), ...others };
}
