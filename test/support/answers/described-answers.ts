/**
 * Validates answers against the OpenAPI document (R-A9): status, content type, the headers
 * Api-Version and X-Request-Id, and JSON bodies. The check is strict: it refuses a body with a member that the document
 * does not describe, although clients must accept such members. It does not check an operation that the document does
 * not describe.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { routingPath } from '../../../src/http/create-app.ts';
import type { OpenApiDocument } from '../../../src/http/openapi/build-document.ts';

export interface Answered {
  readonly method: string;
  /** Path and query of the request. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body when the body is JSON, otherwise the text of the body; undefined when the body is empty. */
  readonly body: unknown;
}

/** @throws {Error} when the answer does not match its description in the OpenAPI document. */
export type CheckAnswer = (answer: Answered) => void;

interface DescribedAnswer {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, object>>;
}

interface DescribedOperation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, DescribedAnswer>>;
}

const BASE = 'tidemark:';
const MAX_PROBLEMS = 5;
const MAX_SHOWN = 2000;

export function answerChecker(document: OpenApiDocument): CheckAnswer {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(tightened(document) as object, BASE);
  const validators = new Map<string, ValidateFunction>();
  const find = operationFinder(document);
  return ({ method, path, status, headers, body }) => {
    const found = find(method, path);
    if (!found) return;
    const what = `${method} ${path} → ${status}, described as ${found.operation.operationId},`;
    const { answer, pointer } = resolveAnswer(document, found, status, what);
    for (const name of ['api-version', 'x-request-id'])
      if (!headers.has(name)) throw new Error(`${what} has no ${name}`);
    const [media = '', ...parameters] = (headers.get('content-type') ?? '').split(';').map((part) => part.trim());
    const type = [media, ...parameters.filter((parameter) => parameter.startsWith('profile='))].join('; ');
    if (body === undefined && answer.content === undefined) return;
    if (answer.content?.[type] === undefined) throw new Error(`${what} has a body of type ${type || 'none'}`);
    if (media !== 'application/json') return;
    const schemaPath = `${BASE}#${pointer}/content/${encodeURI(type.replace('/', '~1'))}/schema`;
    const validate = validators.get(schemaPath) ?? ajv.compile({ $ref: schemaPath });
    validators.set(schemaPath, validate);
    if (validate(body)) return;
    const problems = ajv.errorsText(validate.errors?.slice(0, MAX_PROBLEMS));
    throw new Error(`${what} does not match its schema: ${problems}\n${JSON.stringify(body).slice(0, MAX_SHOWN)}`);
  };
}

/** @returns a checker that uses the OpenAPI document of the service at `origin`. */
export async function fetchAnswerChecker(origin: string): Promise<CheckAnswer> {
  const response = await fetch(`${origin}/openapi.json`);
  return answerChecker((await response.json()) as OpenApiDocument);
}

interface Found {
  readonly operation: DescribedOperation;
  readonly pointer: string;
}

type FindOperation = (method: string, path: string) => Found | undefined;

/** Paths with fewer parameters match first. */
function operationFinder({ paths }: OpenApiDocument): FindOperation {
  const templates = Object.keys(paths)
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .map((template) => ({ template, pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`) }));
  return (method, path) => {
    const route = routingPath(`http://service${path}`);
    for (const { template, pattern } of templates) {
      const name = method.toLowerCase();
      const operation = paths[template]?.[name] as DescribedOperation | undefined;
      if (operation && pattern.test(route)) return { operation, pointer: `/paths/${escapePointer(template)}/${name}` };
    }
    return undefined;
  };
}

function resolveAnswer(document: OpenApiDocument, { operation, pointer }: Found, status: number, what: string) {
  const answer = operation.responses[status];
  if (!answer) throw new Error(`${what} must have a described status: ${Object.keys(operation.responses).join()}`);
  if (answer.$ref === undefined) return { answer, pointer: `${pointer}/responses/${status}` };
  const name = answer.$ref.slice('#/components/responses/'.length);
  const component = document.components.responses?.[name] as DescribedAnswer | undefined;
  if (!component) throw new Error(`${answer.$ref} does not exist`);
  return { answer: component, pointer: `/components/responses/${name}` };
}

/**
 * @returns the schema, changed so that an object with `properties` forbids all other properties, unless the object
 * declares `additionalProperties` itself.
 */
function tightened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tightened);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, tightened(member)]));
  const isClosed = members.type === 'object' && members.properties !== undefined;
  return isClosed && members.additionalProperties === undefined ? { ...members, additionalProperties: false } : members;
}

function escapePointer(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
}
