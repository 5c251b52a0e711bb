/** Builds the OpenAPI 3.1 document of the service (R-A9) from the operations described next to their routes. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ERROR_MAPPINGS, type ErrorCode } from '../../platform/errors.ts';
import { API_VERSION } from '../../platform/http/api-version.ts';
import { ERROR_WORDS, errorSchema } from '../../platform/openapi/error-schema.ts';
import {
  type Access,
  type Answer,
  type Body,
  idSchema,
  type Operation,
  type Parameter,
  type SentEvent,
} from '../../platform/openapi/operation.ts';
import { describeEvents, eventSchemas } from './describe-events.ts';
import { collectSchemas, type Direction, type JsonSchema, type SchemaCollector } from './json-schemas.ts';
import { type Addresses, INTRODUCTION, PARAMETERS, RESPONSE_HEADERS, securitySchemes } from './shared-parts.ts';

export interface Description {
  readonly operations: readonly Operation[];
  /** Requests that the service sends to webhooks. */
  readonly events: readonly SentEvent[];
  readonly eventTag: string;
  /** Description of each tag, in the order of display. */
  readonly tags: Readonly<Record<string, string>>;
  readonly addresses: Addresses;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<Record<'title' | 'version' | 'description', string>> & Readonly<Record<string, unknown>>;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  /** Requests that the service sends to webhooks, by type of event. */
  readonly webhooks: Readonly<Record<string, JsonSchema>>;
  /** Components of an OpenAPI document by kind, such as `schemas`, then by name. */
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
}

/** Contact that the document names: the operator, who runs the service. */
const CONTACT = { name: 'The operator of this installation' };
const LICENSE = { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' };

export type PathItem = Readonly<Record<string, JsonSchema>>;

/** Components collected while operations are described. */
interface Parts extends SchemaCollector {
  readonly responses: Record<string, JsonSchema>;
}

/**
 * Builds the document (R-A9) in about 120 ms of CPU time. Yields to the event loop after each operation.
 * @throws Error when two operations have the same method and path, or two different schemas have the same id.
 */
export async function buildDocument(description: Description): Promise<OpenApiDocument> {
  const { operations, events, eventTag, tags, addresses } = description;
  const parts: Parts = { ...collectSchemas(), responses: {} };
  parts.toJsonSchema(errorSchema, 'output');
  const paths: Record<string, Record<string, JsonSchema>> = {};
  const templates = new Map<string, string>();
  for (const operation of operations) {
    // Routes that differ only in the names of path parameters share one path, with the names of the first route.
    const shape = operation.path.replace(/:\w+/g, '{}');
    const path = templates.get(shape) ?? operation.path.replace(/:(\w+)/g, '{$1}');
    templates.set(shape, path);
    const item = paths[path] ?? pathItem(operation, addresses);
    paths[path] = item;
    if (item[operation.method]) throw new Error(`${operation.method} ${path} is described twice`);
    item[operation.method] = describeOperation(operation, path, parts);
    await nextTurn();
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Tidemark', version: API_VERSION, description: INTRODUCTION, contact: CONTACT, license: LICENSE },
    servers: [{ url: addresses.api }],
    tags: Object.entries(tags).flatMap(([name, description]) => {
      return operations.some(({ tag }) => tag === name) ? [{ name, description }] : [];
    }),
    paths,
    webhooks: describeEvents(events, eventTag),
    components: {
      schemas: { ...parts.components, ...eventSchemas(events) },
      responses: parts.responses,
      parameters: PARAMETERS,
      headers: RESPONSE_HEADERS,
      securitySchemes: securitySchemes(addresses),
    },
  };
}

/** Adds `servers` to a path that does not use the API's URL. Pushes and the issuer may have URLs of their own. */
function pathItem({ path }: Operation, { api, push, issuer }: Addresses): Record<string, JsonSchema> {
  const issuerOrigin = issuer.tokenUrl.slice(0, Math.max(issuer.tokenUrl.indexOf('/realms/'), 0));
  const url = path.startsWith('/api/') ? push : path.startsWith('/realms/') ? issuerOrigin : api;
  return url === api || url === '' ? {} : { servers: [{ url }] as unknown as JsonSchema };
}

function describeOperation(operation: Operation, template: string, parts: Parts): JsonSchema {
  const { operationId, tag, summary, description, access, body, isDeprecated } = operation;
  return {
    operationId,
    tags: [tag],
    summary,
    description: [description, describeAccess(access)].filter(Boolean).join('\n\n'),
    ...(isDeprecated && { deprecated: true }),
    parameters: describeParameters(operation, template, parts),
    ...(body && { requestBody: describeBody(body, parts) }),
    responses: describeAnswers(operation, parts),
    security: describeSecurity(operation),
    ...(access.kind === 'caller' && { 'x-roles': rolesOf(access) }),
    ...(access.kind === 'caller' && access.permission !== undefined && { 'x-permission': access.permission }),
  };
}

function rolesOf({ role }: Access & { readonly kind: 'caller' }): readonly string[] {
  if (role === 'ADMIN') return ['ADMIN'];
  return role === 'MANAGER' ? ['MANAGER', 'ADMIN'] : ['USER', 'MANAGER', 'ADMIN'];
}

/** Describes role, permission and scope as text, because many tools do not show OpenAPI extensions. */
function describeAccess(access: Access): string {
  if (access.kind === 'open') return 'Needs no token.';
  const callers = access.role === undefined ? 'all users' : rolesOf(access).join(' and ');
  const permission = access.permission === undefined ? '' : ` with the permission \`${access.permission}\``;
  return `For ${callers}${permission}; the token must have the scope \`${access.scope}\`.`;
}

/** Describes the accepted credentials. Bearer comes first: generated clients use the first scheme. */
function describeSecurity({ access, method, path }: Operation): readonly Readonly<Record<string, readonly string[]>>[] {
  if (access.kind === 'open') return [];
  const tokens = [{ bearer: [] }, { oauth2: [access.scope] }];
  const isRead = (method === 'get' && path !== '/data/watch') || (method === 'post' && path === '/data');
  const acceptsBasic = access.scope === 'push-data' || isRead;
  return acceptsBasic ? [...tokens, { basic: [] }] : tokens;
}

function describeParameters(operation: Operation, template: string, parts: Parts): readonly JsonSchema[] {
  const { path, inPath = {}, isListing, body } = operation;
  const names = [...template.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => name ?? []);
  const own = [...path.matchAll(/:(\w+)/g)].flatMap(([, name]) => name ?? []);
  const shared = [
    'ApiVersion',
    'RequestId',
    ...(isListing ? ['TotalCount', 'ItemsCount'] : []),
    ...(body?.mayBeGzip ? ['Gzip'] : []),
  ];
  return [
    ...names.map((name, index) => describeParameter(name, 'path', inPath[own[index] ?? name] ?? ID, parts)),
    ...Object.entries(operation.query?.parameters ?? {}).map(([name, parameter]) =>
      describeParameter(name, 'query', parameter, parts),
    ),
    ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

const ID: Parameter = { description: 'Id of the resource.', schema: idSchema };

function describeParameter(name: string, location: 'path' | 'query', parameter: Parameter, parts: Parts): JsonSchema {
  const { description, schema, isRequired } = parameter;
  return {
    name,
    in: location,
    description,
    ...((location === 'path' || isRequired) && { required: true }),
    schema: parts.toJsonSchema(schema, 'input'),
  };
}

function describeBody({ description, types, isOptional }: Body, parts: Parts): JsonSchema {
  return {
    ...(description !== undefined && { description }),
    required: isOptional !== true,
    content: describeContent(types, 'input', parts),
  };
}

function describeContent(types: Body['types'], direction: Direction, parts: Parts): JsonSchema {
  const entries = Object.entries(types).map(([type, schema]) => [
    type,
    { schema: parts.toJsonSchema(schema, direction) },
  ]);
  return Object.fromEntries(entries) as JsonSchema;
}

function describeAnswers(operation: Operation, parts: Parts): JsonSchema {
  const responses: Record<string, JsonSchema> = {};
  for (const answer of operation.answers) responses[answer.status] = describeAnswer(answer, operation, parts);
  for (const [status, codes] of findErrors(operation))
    responses[status] ??= describeErrors(status, codes, operation, parts);
  return responses;
}

function describeAnswer(answer: Answer, { isListing }: Operation, parts: Parts): JsonSchema {
  const { description, types, headers = {} } = answer;
  const own = Object.entries(headers).map(([name, text]) => [name, { description: text, schema: { type: 'string' } }]);
  return {
    description,
    headers: {
      ...headerReferences(isListing && answer.status < 300 ? ['x-total-count'] : []),
      ...Object.fromEntries(own),
    },
    ...(types && { content: describeContent(types, 'output', parts) }),
  };
}

/** Makes one response component per status and set of codes, because many operations have the same error responses. */
function describeErrors(status: number, codes: readonly ErrorCode[], { access }: Operation, parts: Parts): JsonSchema {
  const name = `${status}.${codes.join('.')}`;
  const more = status === 401 ? ['WWW-Authenticate'] : status === 429 || status === 503 ? ['Retry-After'] : [];
  parts.responses[name] ??= {
    description: codes.map((code) => `\`${code}\`: ${ERROR_WORDS[code]}.`).join(' '),
    headers: headerReferences(access.kind === 'open' && status === 401 ? [] : more),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error', properties: { code: { enum: codes } } },
      },
    },
  };
  return { $ref: `#/components/responses/${name}` };
}

function headerReferences(more: readonly string[]): JsonSchema {
  const names = ['Api-Version', 'X-Request-Id', ...more];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const EVERYWHERE: readonly ErrorCode[] = ['api_version_unsupported', 'internal_error', 'dependency_unavailable'];
const WITH_TOKEN: readonly ErrorCode[] = ['invalid_token', 'insufficient_scope', 'permission_denied', 'rate_limited'];
const WITH_BODY: readonly ErrorCode[] = ['invalid_input', 'body_too_large', 'unsupported_media_type'];

/**
 * Finds the errors with which an operation can answer (R-A5): errors that all operations share, errors that follow from
 * the operation's access, path, query and body, and errors that the operation declares.
 * @returns the error codes by HTTP status; statuses and codes are in ascending order.
 */
function findErrors(operation: Operation): ReadonlyMap<number, readonly ErrorCode[]> {
  const codes = new Set<ErrorCode>([
    ...EVERYWHERE,
    ...(operation.access.kind === 'caller' ? WITH_TOKEN : []),
    ...(operation.path.includes('/:') ? (['not_found'] as const) : []),
    ...(operation.query ? (['invalid_input'] as const) : []),
    ...(operation.body ? WITH_BODY : []),
    ...(operation.body && 'application/json' in operation.body.types ? (['malformed_json'] as const) : []),
    ...(operation.errors ?? []),
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...codes].sort()) {
    const { http } = ERROR_MAPPINGS[code];
    byStatus.set(http, [...(byStatus.get(http) ?? []), code]);
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}
