/**
 * `/docs` (R-A9): Swagger UI over `/openapi.json`. All files come from this service. The Content-Security-Policy lets
 * the page connect only to the origins of the service's own addresses. The policy allows inline styles, because
 * components of Swagger UI set inline styles.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Context, Hono } from 'hono';
import { DomainError } from '../../platform/errors.ts';
import type { Addresses } from './shared-parts.ts';

const PACKAGE = new URL('.', import.meta.resolve('swagger-ui-dist/package.json'));
const OWN = new URL('./docs-page/', import.meta.url);

/** Files the page loads: name → directory and media type. */
const FILES: ReadonlyMap<string, readonly [directory: URL, type: string]> = new Map(
  Object.entries({
    'swagger-ui.css': [PACKAGE, 'text/css; charset=utf-8'],
    'swagger-ui-bundle.js': [PACKAGE, 'text/javascript; charset=utf-8'],
    'oauth2-redirect.html': [PACKAGE, 'text/html; charset=utf-8'],
    'oauth2-redirect.js': [PACKAGE, 'text/javascript; charset=utf-8'],
    'docs-script.mjs': [OWN, 'text/javascript; charset=utf-8'],
  } as const),
);

interface File {
  readonly body: string;
  readonly etag: string;
  readonly type: string;
}

/**
 * Creates the routes of `/docs`, to be mounted at the root before authentication (R-A9). A file is read at its first
 * request and then cached.
 * @param findAddresses function that finds the addresses to which "Try it out" may send requests.
 */
export function docsRoutes(findAddresses: () => Promise<Addresses>): Hono {
  const files = new Map<string, File>();
  const find = (name: string): File => {
    const known = files.get(name) ?? readFile(name);
    files.set(name, known);
    return known;
  };
  const send = async (c: Context, name: string) => {
    const { body, etag, type } = find(name);
    c.header('ETag', etag);
    c.header('Cache-Control', 'public, max-age=300');
    for (const [header, value] of Object.entries(securityHeaders(await findAddresses()))) c.header(header, value);
    return isKnown(c, etag) ? c.body(null, 304) : c.body(body, 200, { 'Content-Type': type });
  };
  return new Hono()
    .get('/docs', (c) => send(c, INDEX))
    .get('/docs/*', (c) => send(c, c.req.path.slice(c.req.path.lastIndexOf('/docs/') + '/docs/'.length)));
}

/** Returns true when the header If-None-Match of the request names this ETag or `*`. */
export function isKnown(c: Context, etag: string): boolean {
  const known = (c.req.header('if-none-match') ?? '').split(',').map((tag) => tag.trim());
  return known.includes(etag) || known.includes('*');
}

/** Returns the ETag of a body. It is a weak ETag, because some clients get the body compressed and others do not. */
export function etagOf(body: string): string {
  return `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
}

const INDEX = 'index.html';

/** @throws {DomainError} not_found when `name` is not a file of the page. */
function readFile(name: string): File {
  const [directory, type] = name === INDEX ? [OWN, 'text/html; charset=utf-8'] : (FILES.get(name) ?? []);
  if (!directory || !type) throw new DomainError('not_found', `${JSON.stringify(name)} is not a file under /docs`);
  const body = readFileSync(new URL(name, directory), 'utf8');
  return { body, etag: etagOf(body), type };
}

function securityHeaders({ api, push, issuer }: Addresses): Readonly<Record<string, string>> {
  const origins = [api, push, issuer.tokenUrl].map((address) => new URL(address).origin);
  const policy = [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self' 'unsafe-inline'`,
    `img-src 'self' data:`,
    `connect-src ${["'self'", ...new Set(origins)].join(' ')}`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  };
}
