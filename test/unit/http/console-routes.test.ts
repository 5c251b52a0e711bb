/** Serving the built console: caching, compression, which requests get the page, and what the page may load. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consoleRoutes } from '../../../src/http/console/console-routes.ts';
import { errorHandler } from '../../../src/http/error-response.ts';
import { createLog } from '../../../src/platform/log.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const SCRIPT = `console.log('${'tide '.repeat(500)}');`;
let directory: string;
let app: Hono;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-console-'));
  mkdirSync(join(directory, 'assets'));
  writeFileSync(join(directory, 'index.html'), '<head><meta name="tidemark-settings" content="" /></head>');
  writeFileSync(join(directory, 'assets/index-1a2b.js'), SCRIPT);
  writeFileSync(join(directory, 'assets/logo-1a2b.png'), 'a compressed format');
  writeFileSync(join(directory, 'secret.txt'), 'no file of the console');
  app = new Hono();
  app.onError(errorHandler(createLog('silent', 'test')) as never);
  const addresses = {
    api: 'https://api.example',
    push: 'https://push.example',
    issuer: 'https://id.example/realms/"x',
  };
  app.route('/', consoleRoutes({ directory, ...addresses, clientId: 'tidemark-console' }));
  app.all('*', (c) => c.text('the API', 401));
});
afterAll(() => rmSync(directory, { recursive: true }));

const get = (path: string, headers: Readonly<Record<string, string>> = {}) => app.request(path, { headers });

describe('console: the page', () => {
  test.each(['/', '/console', '/console/find', '/console/variables/12'])(
    'a browser that requests %s gets the page of the console',
    async (path) => {
      const answer = await get(path, { accept: BROWSER });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toContain('text/html');
      expect(answer.headers.get('cache-control')).toBe('no-cache');
    },
  );

  test.each([
    ['without the header Accept', {}],
    ['with the header "Accept: */*"', { accept: '*/*' }],
    ['with the header "Accept: application/json"', { accept: 'application/json' }],
  ])('a client that requests "/" %s gets the answer of the API instead of the page', async (_what, headers) => {
    const answer = await get('/', headers);
    expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 401, text: 'the API' });
  });

  test('contains the URLs of the installation, with special characters escaped for HTML', async () => {
    const html = await (await get('/', { accept: BROWSER })).text();
    const content = /content="([^"]*)"/.exec(html)?.[1]?.replaceAll('&quot;', '"').replaceAll('&amp;', '&') ?? '';
    expect(JSON.parse(content)).toMatchObject({
      api: 'https://api.example',
      push: 'https://push.example',
      issuer: 'https://id.example/realms/"x',
    });
  });

  test('has a policy that refuses inline code, eval, display in a frame, and every origin except those of the installation', async () => {
    const policy = (await get('/', { accept: BROWSER })).headers.get('content-security-policy') ?? '';
    expect(policy).not.toMatch(/unsafe|\*|data:/);
    expect(new Set(policy.match(/https?:[^ ;]+/g))).toEqual(
      new Set(['https://api.example', 'https://push.example', 'https://id.example']),
    );
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        `default-src 'none'`,
        `script-src 'self'`,
        'worker-src blob:',
        `style-src 'self'`,
        `connect-src 'self' https://api.example https://push.example https://id.example`,
        `frame-ancestors 'none'`,
      ]),
    );
  });
});

describe('console: files of the build', () => {
  test('may be kept by browsers for a year, because their names change with their content', async () => {
    const answer = await get('/console/assets/index-1a2b.js');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(await answer.text()).toBe(SCRIPT);
  });

  test('are compressed by Brotli for clients that accept Brotli', async () => {
    const answer = await get('/console/assets/index-1a2b.js', { 'accept-encoding': 'gzip, deflate, br' });
    expect(answer.headers.get('content-encoding')).toBe('br');
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.length).toBeLessThan(SCRIPT.length / 4);
    expect(brotliDecompressSync(bytes).toString()).toBe(SCRIPT);
  });

  test('are sent unchanged when their format is already compressed', async () => {
    const answer = await get('/console/assets/logo-1a2b.png', { 'accept-encoding': 'gzip, deflate, br' });
    expect(answer.headers.get('content-encoding')).toBeNull();
    expect(await answer.text()).toBe('a compressed format');
  });

  test.each(['missing.js', '..%2fsecret.txt', '%2e%2e%2findex.html'])(
    '/console/assets/%s is answered with 404, because the build has no such asset',
    async (name) => {
      expect((await get(`/console/assets/${name}`)).status).toBe(404);
    },
  );
});

test('console: a directory without a build is refused at start-up, and the error names the setting', () => {
  const options = { api: 'https://a.example', push: 'https://a.example', issuer: 'https://a.example', clientId: 'c' };
  expect(() => consoleRoutes({ directory: join(directory, 'assets'), ...options })).toThrow('CONSOLE_DIRECTORY');
});
