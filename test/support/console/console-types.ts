/**
 * Generates src/console/api/openapi.d.ts, the types of the console's calls, from the same description that
 * `/openapi.json` serves. Leaves out request headers, error answers, and paths that the console does not call, so that
 * the generated file stays readable and changes seldom.
 */
import { registerHooks } from 'node:module';
import { readConfig } from '../../../src/config.ts';
import { buildDocument } from '../../../src/http/openapi/build-document.ts';
import { describeApi } from '../../../src/roles/api-description.ts';

type Json = Readonly<Record<string, unknown>>;
interface Document extends Json {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: Readonly<Record<string, Json>>;
}

const JSON_TYPE = 'application/json';
const METHODS = ['get', 'put', 'post', 'patch', 'delete'];
const HEADER = `/** Generated from the API description by test/unit/house/console-types.test.ts; do not edit. */\n\n`;

/** @returns the text of src/console/api/openapi.d.ts. @param usedPaths the paths that the console calls. */
export async function consoleTypes(usedPaths: ReadonlySet<string>): Promise<string> {
  const environment = { DATABASE_URL: 'postgres://console:types@127.0.0.1/none', REDIS_URL: 'redis://127.0.0.1' };
  const document = (await buildDocument(describeApi(readConfig(environment)))) as unknown as Document;
  // openapi-typescript generates its output with the compiler API of TypeScript 5. TypeScript 7 lacks this API.
  const hooks = registerHooks({
    resolve: (name, context, next) => next(name === 'typescript' ? 'typescript-5' : name, context),
  });
  try {
    const { default: generate, astToString } = await import('openapi-typescript');
    const nodes = await generate(JSON.stringify(reduce(document, usedPaths)), { alphabetize: true });
    return HEADER + astToString(nodes).replaceAll(/^ +/gm, (indent) => ' '.repeat(indent.length / 2));
  } finally {
    hooks.deregister();
  }
}

function reduce(document: Document, usedPaths: ReadonlySet<string>): Json {
  const paths = Object.fromEntries(
    Object.entries(document.paths)
      .filter(([path]) => usedPaths.has(path))
      .map(([path, operations]) => [path, reduceOperations(operations)]),
  );
  const schemas = document.components.schemas ?? {};
  const used: Record<string, unknown> = {};
  const collect = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (name in used) continue;
      used[name] = dropProse(schemas[name]);
      collect(schemas[name]);
    }
  };
  collect([paths, { $ref: '#/components/schemas/Error' }]);
  return { openapi: document.openapi, info: document.info, paths, components: { schemas: used } };
}

function reduceOperations(operations: Readonly<Record<string, Json>>): Json {
  return Object.fromEntries(
    Object.entries(operations)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, { operationId, parameters = [], requestBody, responses }]) => [
        method,
        dropProse({
          operationId,
          parameters: (parameters as Json[]).filter((parameter) => parameter.in !== 'header' && !('$ref' in parameter)),
          ...(requestBody !== undefined && { requestBody }),
          responses: Object.fromEntries(
            Object.entries(responses as Record<string, Json>)
              .filter(([status]) => status.startsWith('2'))
              .map(([status, answer]) => [status, { description: '', content: jsonOf(answer.content) }]),
          ),
        }),
      ]),
  );
}

/** When an answer can be JSON, drops its other content types, because the console's typed client requests JSON. */
function jsonOf(content: unknown): object {
  const types = (content ?? {}) as Readonly<Record<string, unknown>>;
  return JSON_TYPE in types ? { [JSON_TYPE]: types[JSON_TYPE] } : types;
}

/** Removes descriptions and examples, which only readers of the API description need. */
function dropProse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropProse);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => !isProse(name, member))
      .map(([name, member]) => [name, dropProse(member)]),
  );
}

/**
 * A member `description` is prose only if its value is a string. An object is the schema of a property with the name
 * `description`.
 */
function isProse(name: string, member: unknown): boolean {
  return (name === 'description' && typeof member === 'string' && member !== '') || name === 'examples';
}
