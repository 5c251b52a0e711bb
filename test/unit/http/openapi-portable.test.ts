/** The OpenAPI document can be read by the validators and generators of other languages (R-A9). */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { buildDocument, type OpenApiDocument } from '../../../src/http/openapi/build-document.ts';
import { describeApi } from '../../../src/roles/api-description.ts';

type Members = Readonly<Record<string, unknown>>;

const ajv = new Ajv2020({ strict: false });
let document: OpenApiDocument;
beforeAll(async () => {
  const config = readConfig({ DATABASE_URL: 'postgres://localhost/x', REDIS_URL: 'redis://localhost' });
  document = await buildDocument(describeApi(config));
});

/** Yields every object inside a value, with its path. */
function* objectsIn(value: unknown, path = '#'): Generator<readonly [path: string, object: Members]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Members];
  for (const [name, member] of Object.entries(value)) yield* objectsIn(member, `${path}/${name}`);
}

/** Pairs of paths that can match the same URL. The contract (§4.2, §4.4), R-C6, R-F8 and R-H5 require both paths. */
const CONTRACT_PATHS = [
  /^\/account\/user\/(claim|active-account)\/\{\w+\} \/account\/user\/\{\w+\}\/\w+$/,
  /^\/account\/webhooks\/test\/\{\w+\} \/account\/webhooks\/\{\w+\}\/\w+$/,
  /^\/variables\/(source|types)\/\{\w+\} \/variables\/\{\w+\}\/\w+$/,
];

describe('openapi: portability', () => {
  test('every pattern is valid as a regular expression without flags, and uses no Unicode properties (R-A9)', () => {
    const patterns = [...objectsIn(document)].flatMap(([, { pattern }]) =>
      typeof pattern === 'string' ? pattern : [],
    );
    expect(patterns.length).toBeGreaterThan(3);
    expect(patterns.filter((pattern) => /\\[pP]\{/.test(pattern))).toEqual([]);
    for (const pattern of patterns) expect(() => new RegExp(pattern)).not.toThrow();
  });

  test('every required member has a schema, and no schema limits member names by an enumeration (R-A9)', () => {
    const objects = [...objectsIn(document)];
    expect(objects.filter(([, { required }]) => Array.isArray(required)).length).toBeGreaterThan(100);
    expect(objects.filter(([, { propertyNames }]) => propertyNames !== undefined).length).toBeGreaterThan(0);
    const wrong = objects.filter(([, { required, properties, propertyNames }]) => {
      const names = Array.isArray(required) ? (required as readonly string[]) : [];
      return (
        names.some((name) => !Object.hasOwn((properties ?? {}) as object, name)) ||
        (propertyNames as Members | undefined)?.enum
      );
    });
    expect(wrong.map(([path]) => path)).toEqual([]);
  });

  test('every media type of an answer has a typed schema (R-G4, R-A9)', () => {
    const media = [...objectsIn(document.paths)].filter(([path]) =>
      /\/responses\/\d+\/content\/[^/]+\/[^/]+$/.test(path),
    );
    expect(media.length).toBeGreaterThan(100);
    const untyped = media.filter(([, { schema }]) => {
      const { type, $ref, anyOf } = (schema ?? {}) as Members;
      return type === undefined && $ref === undefined && anyOf === undefined;
    });
    expect(untyped.map(([path]) => path)).toEqual([]);
  });

  test('each event has a schema named after it, such as SiteCreatedEvent; no schema has the bare name of an event (R-I2)', () => {
    const events = Object.keys(document.webhooks);
    expect(events).toContain('SiteCreated');
    const schemas = Object.keys(document.components.schemas ?? {});
    expect(schemas).toEqual(expect.arrayContaining(events.map((type) => `${type}Event`)));
    expect(schemas.filter((name) => events.includes(name))).toEqual([]);
  });

  test('query parameters of the same name have the same type in all operations (R-A9)', () => {
    const types = new Map<string, Set<string>>();
    for (const [, { name, in: place, schema }] of objectsIn(document.paths)) {
      if (place !== 'query' || typeof name !== 'string') continue;
      const { type } = schema as Members;
      types.set(name, (types.get(name) ?? new Set()).add(String(type)));
    }
    expect(types.get('sourceIds')).toEqual(new Set(['array']));
    expect([...types].filter(([, found]) => found.size > 1).map(([name]) => name)).toEqual([]);
  });

  test('path templates overlap only if one is more specific or the contract requires both (§4.2, §4.4)', () => {
    const paths = Object.keys(document.paths);
    const matches = (one: readonly string[], other: readonly string[]) =>
      one.length === other.length &&
      one.every((part, at) => part === other[at] || /^\{/.test(part + other[at]) || /^\{/.test(other[at] ?? ''));
    const isMoreFixed = (one: readonly string[], other: readonly string[]) =>
      one.every((part, at) => !part.startsWith('{') || other[at]?.startsWith('{'));
    const pairs = paths.flatMap((one) =>
      paths.flatMap((other) => {
        const [a, b] = [one.split('/'), other.split('/')];
        return one !== other && matches(a, b) && !isMoreFixed(a, b) && !isMoreFixed(b, a) ? [`${one} ${other}`] : [];
      }),
    );
    const unknown = pairs.filter((pair) => {
      const reversed = pair.split(' ').reverse().join(' ');
      return !CONTRACT_PATHS.some((pattern) => pattern.test(pair) || pattern.test(reversed));
    });
    expect(unknown).toEqual([]);
    expect(pairs.length).toBeGreaterThan(0);
    expect(pairs.filter((pair) => !pair.split(' ').some(isToldApart))).toEqual([]);

    /**
     * @param index index in the pair of the path to check.
     * @returns true when this path has a fixed segment where the other path has a parameter that does not allow it.
     */
    function isToldApart(_path: string, index: number, [one = '', other = '']: readonly string[]): boolean {
      const [fixed, templated] = index === 0 ? [one, other] : [other, one];
      const words = fixed.split('/');
      return templated.split('/').some((part, at) => {
        const name = /^\{(\w+)\}$/.exec(part)?.[1];
        const word = words[at] ?? '';
        return name !== undefined && !word.startsWith('{') && !ajv.validate(parameterOf(templated, name), word);
      });
    }
  });

  /** @returns the schema of a parameter of a path. */
  function parameterOf(path: string, name: string): Members {
    const operations = Object.values(document.paths[path] ?? {}) as readonly Members[];
    const parameters = operations.flatMap((operation) => (operation.parameters ?? []) as readonly Members[]);
    return parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)?.schema as Members;
  }

  test('GET /data lists the bearer token as its first security scheme (R-B3)', () => {
    const get = document.paths['/data']?.get as Members;
    expect(get.security).toEqual([{ bearer: [] }, { oauth2: ['datahub-api'] }, { basic: [] }]);
    expect(document.components.securitySchemes?.bearer).toMatchObject({ type: 'http', scheme: 'bearer' });
  });
});
