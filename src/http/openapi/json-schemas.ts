/** Zod schemas as JSON Schema 2020-12, which is what OpenAPI 3.1 speaks; those with an id become components. */
import { z } from 'zod';

export type JsonSchema = { readonly [Name in string]?: unknown };

/** `input`: what clients send; `output`: what they get. */
export type Direction = 'input' | 'output';

export interface SchemaCollector {
  /** The schema, or a reference to a component. */
  toJsonSchema(schema: z.ZodType, direction: Direction): JsonSchema;
  /** Every component met so far, by id. */
  readonly components: Readonly<Record<string, JsonSchema>>;
}

const DEFINITIONS = '#/$defs/';
const COMPONENTS = '#/components/schemas/';

/** @throws Error when two different schemas have the same id: one in and out may look different. */
export function collectSchemas(): SchemaCollector {
  const components: Record<string, JsonSchema> = {};
  return {
    components,
    toJsonSchema: (schema, direction) => {
      // Wrapped: what is at the root is never a definition.
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

/** Answers may get more members one day: that they have none but those named is for tests to see, not for clients. */
function tidy({ zodSchema, jsonSchema }: Converted): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  // zod's own name for it; JSON Schema has no such word.
  delete jsonSchema.id;
  // Of what may be left out it says nothing, and generators of clients take what has a default for always there.
  if (jsonSchema.default === null) delete jsonSchema.default;
  // zod takes examples of what is transformed for what comes out; ours are of what goes in.
  const examples = z.globalRegistry.get(zodSchema as z.ZodType)?.examples;
  if (examples !== undefined) jsonSchema.examples = examples;
}

interface Converted {
  readonly zodSchema: unknown;
  readonly jsonSchema: Record<string, unknown>;
}

function addComponent(components: Record<string, JsonSchema>, id: string, definition: unknown): void {
  const known = components[id];
  if (known && JSON.stringify(known) !== JSON.stringify(definition)) throw new Error(`two schemas are called ${id}`);
  components[id] = definition as JsonSchema;
}

/** References lead to the components; what may be null says so in its type. */
function finish(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(finish);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => {
    const isReference = name === '$ref' && typeof member === 'string';
    return [name, isReference ? member.replace(DEFINITIONS, COMPONENTS) : finish(member)] as const;
  });
  return withNull(Object.fromEntries(members));
}

/** `{anyOf: [{type: 'string', …}, {type: 'null'}]}` → `{type: ['string', 'null'], …}`, which all tools read. */
function withNull({ anyOf, ...others }: Record<string, unknown>): JsonSchema {
  if (anyOf === undefined) return others;
  const [first, second, ...more] = anyOf as readonly JsonSchema[];
  const isNullable = second?.type === 'null' && Object.keys(second).length === 1 && more.length === 0;
  if (!isNullable || typeof first?.type !== 'string') return { anyOf, ...others };
  const { enum: names } = first;
  return { ...first, type: [first.type, 'null'], ...(Array.isArray(names) && { enum: [...names, null] }), ...others };
}
