/**
 * Tests the content of the OpenAPI document (R-A9) and the route that serves it. Also tests that the API requires the
 * role, permission and scope that the document states for each operation.
 */
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { OpenApiDocument } from '../../../src/http/openapi/build-document.ts';
import type { Operation } from '../../../src/platform/openapi/operation.ts';
import { describeApi } from '../../../src/roles/api-description.ts';
import { type ApiRole, startApi } from '../../../src/roles/api-role.ts';
import { listenHttp } from '../../../src/roles/http-listener.ts';
import { createTestClient, type TestClient } from '../../support/clients/test-client.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
let role: ApiRole;
let operations: readonly Operation[];
let document: OpenApiDocument;
beforeAll(async () => {
  api = await startTestApi({ API_RATE_PER_MINUTE: '0', TOKEN_RATE_PER_MINUTE: '0' });
  role = await startApi(api.parts, await listenHttp('127.0.0.1', 0));
  operations = describeApi(api.parts.config).operations;
  document = (await createTestClient(api.origin).get<OpenApiDocument>('/openapi.json')).body;
});
afterAll(async () => {
  await role.stop();
  await api.close();
});

/** Paths that oidc-provider serves. `role.routes` does not list them, because oidc-provider has a router of its own. */
const ISSUER_PATH = /^\/realms\//;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) =>
  `${method.toUpperCase()} ${path}`;
const sorted = (names: Iterable<string>) => [...new Set(names)].sort();

/** @returns the maximum of an integer parameter; undefined for other types. */
function maximumOf(schema: z.ZodType): number | undefined {
  const { type, maximum } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return type === 'integer' ? maximum : undefined;
}

describe('openapi: the document', () => {
  it('describes exactly the routes of the API, not counting those of the token issuer (R-A9)', () => {
    const routes = role.routes.filter(({ method, path }) => METHODS.includes(method) && !path.includes('*'));
    const own = new Set(routes.map(({ path }) => path));
    // Routes that accept any method; the other entries with the method ALL are middleware.
    const anyMethod = role.routes.filter(
      ({ method, path }) => method === 'ALL' && !path.includes('*') && !own.has(path),
    );
    const anyPaths = new Set(anyMethod.map(({ path }) => path));
    const described = operations.filter(({ path }) => !ISSUER_PATH.test(path));
    expect(sorted(described.filter(({ path }) => !anyPaths.has(path)).map(nameOf))).toEqual(sorted(routes.map(nameOf)));
    expect(sorted(anyPaths)).toEqual(
      sorted(described.filter(({ path }) => anyPaths.has(path)).map(({ path }) => path)),
    );
  });

  it('is valid OpenAPI 3.1 (R-A9)', async () => {
    const validator = new Validator();
    expect(await validator.validate(JSON.parse(JSON.stringify(document)))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('documents the maximum that the API enforces for each paging parameter, in GET operations without path parameters (R-A9)', async () => {
    const numbers = operations.flatMap(({ method, path, query }) =>
      method === 'get' && !path.includes(':') && !path.includes('{')
        ? Object.entries(query?.parameters ?? {}).map(([name, { schema }]) => ({ path, name, most: maximumOf(schema) }))
        : [],
    );
    const known = numbers.filter(({ name, most }) => most !== undefined && /pageNumber|itemsPerPage/i.test(name));
    expect(known.length).toBeGreaterThan(20);
    const admin = await api.signIn('ada', 'ADMIN');
    const isRefused = async (path: string, name: string, value: number) => {
      const client = path.startsWith('/admin/') ? admin : api.manager;
      const { body } = await client.get<{ details?: readonly { path: string }[] }>(`${path}?${name}=${value}`);
      const last = (name.split('.').at(-1) ?? '').toLowerCase();
      return (body?.details ?? []).some((detail) => detail.path.toLowerCase().endsWith(last));
    };
    const wrong: string[] = [];
    for (const { path, name, most = 0 } of known) {
      const isTaken = !(await isRefused(path, name, most));
      if (!isTaken || !(await isRefused(path, name, most + 1))) wrong.push(`${path} ${name} ${most}`);
    }
    expect(wrong).toEqual([]);
  });

  it('never declares null as a default value, because generated clients would send null (R-A9)', () => {
    expect(JSON.stringify(document).includes('"default":null')).toBe(false);
  });

  it('has no dangling reference and no unused component (R-A9)', () => {
    const references = new Set(
      [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, name]) => name),
    );
    const { securitySchemes: _named, ...components } = document.components;
    const parts = Object.entries(components).flatMap(([kind, members]) =>
      Object.keys(members as object).map((name) => `${kind}/${name}`),
    );
    expect(sorted(references as Iterable<string>)).toEqual(sorted(parts));
  });

  it('gives every operation a unique id in camelCase and a declared tag, and declares no tag without an operation (R-A9)', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids).toEqual([...new Set(ids)]);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(sorted(operations.map(({ tag }) => tag))).toEqual(sorted(document.tags.map(({ name }) => name)));
  });

  it('describes every parameter (R-A9)', () => {
    const silent = operations.flatMap(({ operationId, query, inPath = {} }) =>
      Object.entries({ ...query?.parameters, ...inPath }).flatMap(([name, { description }]) =>
        description.endsWith('.') ? [] : [`${operationId} ${name}`],
      ),
    );
    expect(silent).toEqual([]);
  });

  it('names the token URL and the scopes of the installation (R-A9, §5)', () => {
    const { oauth2 } = document.components.securitySchemes as {
      oauth2: { flows: { password: { tokenUrl: string; scopes: object } } };
    };
    const { tokenUrl, scopes } = oauth2.flows.password;
    expect(tokenUrl).toBe(`${api.origin}/realms/tidemark/protocol/openid-connect/token`);
    expect(Object.keys(scopes)).toEqual(['datahub-api', 'push-data']);
    expect(document.servers).toEqual([{ url: api.origin }]);
  });
});

describe('openapi: GET /openapi.json', () => {
  const get = (headers: Record<string, string> = {}) => fetch(`${api.origin}/openapi.json`, { headers });

  it('needs no token, and answers 304 when the header `If-None-Match` has the ETag of the document (R-A9)', async () => {
    const first = await get();
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    const etag = first.headers.get('etag') ?? '';
    const again = await get({ 'if-none-match': etag });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await get({ 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('is compressed when the client accepts gzip (R-A4)', async () => {
    expect((await get({ 'accept-encoding': 'gzip' })).headers.get('content-encoding')).toBe('gzip');
  });
});

describe('openapi: documented access', () => {
  /**
   * Calls an operation without a body and with ids that do not exist. This suffices, because the service checks access
   * before it checks the body and the ids.
   * @returns the error code of the answer; the HTTP status when the answer has no error code; `waits` when no answer
   * comes within 3 s.
   */
  async function ask(client: TestClient, { method, path }: Operation): Promise<string> {
    const response = await fetch(api.origin + path.replace(/:\w+/g, '2147483647'), {
      method: method.toUpperCase(),
      headers: client.token === undefined ? {} : { authorization: `Bearer ${client.token}` },
      signal: AbortSignal.timeout(3000),
    }).catch((error: Error) => error);
    // A refusal comes immediately; an allowed operation may wait for a calculator, which is not running here.
    if (response instanceof Error) {
      if (response.name !== 'TimeoutError') throw response;
      return 'waits';
    }
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    const text = await response.text();
    const code = isJson && text !== '' ? (JSON.parse(text) as { code?: string }).code : undefined;
    return code ?? String(response.status);
  }
  const askAll = async (client: TestClient, among: (operation: Operation) => boolean) => {
    const asked = operations
      .filter((operation) => !ISSUER_PATH.test(operation.path) && among(operation))
      // `signOutEverywhere` ends the client's session, so it is called last.
      .toSorted(
        (a, b) => Number(a.operationId === 'signOutEverywhere') - Number(b.operationId === 'signOutEverywhere'),
      );
    const answers: [string, string][] = [];
    for (const operation of asked) answers.push([operation.operationId, await ask(client, operation)]);
    expect(answers.length).toBeGreaterThan(3);
    return new Map(answers);
  };
  const idsWith = (answers: ReadonlyMap<string, string>, code: string) =>
    [...answers].flatMap(([id, answer]) => (answer === code ? [id] : [])).sort();
  const idsOf = (among: (operation: Operation) => boolean) =>
    operations.flatMap((it) => (among(it) && !ISSUER_PATH.test(it.path) ? [it.operationId] : [])).sort();

  it('without a token, every operation that needs a token is refused, and every other operation is allowed (R-B1)', async () => {
    const answers = await askAll(createTestClient(api.origin), () => true);
    expect(idsWith(answers, 'invalid_token')).toEqual(idsOf(({ access }) => access.kind === 'caller'));
  });

  it.each(['datahub-api', 'push-data'] as const)(
    'with only the scope %s, operations of other scopes are refused (R-B6)',
    async (scope) => {
      const client = await api.signIn(`only-${scope}`, 'ADMIN', { scopes: [scope] });
      const answers = await askAll(client, ({ access }) => access.kind === 'caller');
      const others = idsOf(({ access }) => access.kind === 'caller' && access.scope !== scope);
      expect(idsWith(answers, 'insufficient_scope')).toEqual(others);
    },
  );

  it.each(['USER', 'MANAGER', 'ADMIN'] as const)(
    'role %s without permissions: exactly the operations that need a higher role or a permission are refused (R-B8)',
    async (own) => {
      const ranks = { USER: 0, MANAGER: 1, ADMIN: 2 };
      const client = await api.signIn(`plain-${own}`, own, { mayPush: false });
      const answers = await askAll(client, ({ access }) => access.kind === 'caller');
      const refused = idsOf(
        ({ access }) =>
          access.kind === 'caller' && (ranks[access.role ?? 'USER'] > ranks[own] || access.permission !== undefined),
      );
      expect(idsWith(answers, 'permission_denied')).toEqual(refused);
    },
  );
});
