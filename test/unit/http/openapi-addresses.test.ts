/** The OpenAPI description names the authentication methods and the URLs of the installation (R-A1, R-A9). */
import { expect, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { buildDocument } from '../../../src/http/openapi/build-document.ts';
import { describeApi } from '../../../src/roles/api-description.ts';

const NEEDED = { DATABASE_URL: 'postgres://localhost/x', REDIS_URL: 'redis://localhost' };
const describeWith = (settings: Record<string, string>) =>
  buildDocument(describeApi(readConfig({ ...NEEDED, ...settings })));
const flowsOf = ({ components }: Awaited<ReturnType<typeof describeWith>>) =>
  components.securitySchemes?.oauth2?.flows as Readonly<
    Record<string, { tokenUrl: string; authorizationUrl?: string }>
  >;

test('openapi: when API_URL, PUSH_URL and AUTH_URL differ, each route is described under its own URL (R-A1)', async () => {
  const document = await describeWith({
    API_URL: 'https://api.example/',
    PUSH_URL: 'https://push.example/',
    AUTH_URL: 'https://auth.example',
  });
  expect(document.servers).toEqual([{ url: 'https://api.example' }]);
  expect(document.paths['/api/data']?.servers).toEqual([{ url: 'https://push.example' }]);
  expect(document.paths['/sites']).not.toHaveProperty('servers');
  const tokenPath = '/realms/tidemark/protocol/openid-connect/token';
  expect(document.paths[tokenPath]?.servers).toEqual([{ url: 'https://auth.example' }]);
  expect(flowsOf(document).password?.tokenUrl).toBe(`https://auth.example${tokenPath}`);
});

test('openapi: HTTP Basic is described for GET /data, but not for GET /data/watch or POST /sites (R-A13)', async () => {
  const { paths } = await describeWith({});
  expect(paths['/data']?.get?.security).toContainEqual({ basic: [] });
  expect(paths['/data/watch']?.get?.security).not.toContainEqual({ basic: [] });
  expect(paths['/sites']?.post?.security).not.toContainEqual({ basic: [] });
});

test('openapi: with Keycloak, the description names Keycloak’s authorization and token URLs and leaves out the routes of the embedded issuer (R-B2)', async () => {
  const document = await describeWith({
    USER_DIRECTORY: 'keycloak',
    KEYCLOAK_URL: 'https://keycloak.example/',
    KEYCLOAK_REALM: 'energy',
    KEYCLOAK_CLIENT_SECRET: 'secret',
  });
  const root = 'https://keycloak.example/realms/energy/protocol/openid-connect';
  expect(flowsOf(document).authorizationCode).toMatchObject({
    authorizationUrl: `${root}/auth`,
    tokenUrl: `${root}/token`,
  });
  expect(Object.keys(document.paths).filter((path) => path.startsWith('/realms/'))).toEqual([]);
  expect(document.tags.map(({ name }) => name)).not.toContain('Tokens');
});
