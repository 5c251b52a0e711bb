/**
 * Serves the console: its page at `/`, at `/console` and below `/console`, for clients that prefer HTML. For
 * other clients, `/` answers as if the service had no console. No token is needed for the files; the page signs the
 * user in.
 */
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { accepts } from 'hono/accepts';
import { DomainError } from '../../platform/errors.ts';
import { type ConsoleFile, type Encoding, openConsoleFiles } from './console-files.ts';

export interface ConsoleOptions {
  /** Directory of the built console. */
  readonly directory: string;
  /** Public URL at which browsers open the console and call the API. */
  readonly api: string;
  /** Public URL of the push API. */
  readonly push: string;
  /** URL of the issuer that signs users in. */
  readonly issuer: string;
  readonly clientId: string;
}

const PAGE = 'index.html';
const ASSETS = 'assets/';
/** For assets: their names contain a hash of their content, so the content at a URL never changes. */
const IMMUTABLE = 'public, max-age=31536000, immutable';
/** Element of the built page. The server puts the URLs and the client id of the installation into `content`. */
const SETTINGS_PLACE = '<meta name="tidemark-settings" content="" />';

/**
 * Creates the routes, to be mounted at the root before authentication. @throws {Error} when the directory holds no
 * built console.
 */
export function consoleRoutes(options: ConsoleOptions): Hono {
  const files = openConsoleFiles(options.directory);
  const page = files.get(PAGE);
  if (!page)
    throw new Error(
      `CONSOLE_DIRECTORY must be the directory of a built console, but ${options.directory} has no ${PAGE}`,
    );
  const html = once(async () => fillPage(page, options));
  const headers = securityHeaders(options);
  const sendPage: MiddlewareHandler = async (c, next) => {
    if (!wantsHtml(c)) return next();
    for (const [name, value] of Object.entries(headers)) c.header(name, value);
    // File names in the page change with each build, so a browser must revalidate the page each time.
    c.header('Cache-Control', 'no-cache');
    c.header('Vary', 'Accept');
    return c.html(await html());
  };
  return new Hono()
    .get('/', sendPage)
    .get(`/console/${ASSETS}:name`, (c) => sendAsset(c, files))
    .get('/console', sendPage)
    .get('/console/*', sendPage, (c) => {
      throw new DomainError(
        'not_found',
        `${c.req.path} is a page of the console; request it with the header Accept: text/html`,
      );
    });
}

/** @returns true when `Accept` prefers HTML, as browsers do; false for a program that accepts any type. */
function wantsHtml(c: Context): boolean {
  const supports = ['application/json', 'text/html'];
  return accepts(c, { header: 'Accept', supports, default: 'application/json' }) === 'text/html';
}

async function sendAsset(c: Context, files: ReadonlyMap<string, ConsoleFile>): Promise<Response> {
  const name = c.req.param('name') ?? '';
  const file = files.get(`${ASSETS}${name}`);
  if (!file) throw new DomainError('not_found', `${JSON.stringify(name)} is not a file of the console`);
  const encoding = file.isCompressed ? 'identity' : chooseEncoding(c.req.header('accept-encoding') ?? '');
  const body = await file.read(encoding);
  c.header('Cache-Control', IMMUTABLE);
  c.header('Vary', 'Accept-Encoding');
  c.header('X-Content-Type-Options', 'nosniff');
  if (encoding !== 'identity') c.header('Content-Encoding', encoding);
  return c.body(body, 200, { 'Content-Type': file.type });
}

function chooseEncoding(accepted: string): Encoding {
  if (/\bbr\b/.test(accepted)) return 'br';
  return /\bgzip\b/.test(accepted) ? 'gzip' : 'identity';
}

async function fillPage(page: ConsoleFile, { api, push, issuer, clientId }: ConsoleOptions): Promise<string> {
  const text = new TextDecoder().decode(await page.read('identity'));
  if (!text.includes(SETTINGS_PLACE))
    throw new Error(
      `${PAGE} of the console must contain ${SETTINGS_PLACE}; build the console again, then restart the service`,
    );
  const settings = JSON.stringify({ api, push, issuer, clientId });
  return text.replace(SETTINGS_PLACE, () => SETTINGS_PLACE.replace('""', `"${escapeAttribute(settings)}"`));
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

/**
 * Headers of the console's pages. Scripts, styles and fonts come only from the console's origin; inline scripts, inline
 * styles and `eval` are refused. Requests go only to the origins of the console, the API, the push API and the issuer.
 * Scripts can set the style of elements through the CSSOM, which the policy does not govern; `style` attributes in
 * markup are refused. Images may also come from `blob:` URLs, because the console shows the plots of scripts through
 * such URLs. Workers come only from `blob:` URLs: the library that unpacks workbooks (fflate) starts its workers so.
 */
function securityHeaders({ api, push, issuer }: ConsoleOptions): Readonly<Record<string, string>> {
  const origins = [api, push, issuer].map((address) => new URL(address).origin);
  const policy = [
    `default-src 'none'`,
    `script-src 'self'`,
    'worker-src blob:',
    `style-src 'self'`,
    `img-src 'self' blob:`,
    `font-src 'self'`,
    `connect-src ${["'self'", ...new Set(origins)].join(' ')}`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  };
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
