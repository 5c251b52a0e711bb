/** A browser without scripts: stores cookies by path, follows redirects, posts forms. */

export interface BrowserPage {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** Text of the heading. */
  readonly title: string;
  /** Text of the element with the role alert. */
  readonly problem: string | undefined;
  /** Names of the visible fields. */
  readonly fields: readonly string[];
}

export interface Browser {
  open(url: string): Promise<BrowserPage>;
  /** Posts the form of `page` with `values` and with the hidden fields of the form. */
  submit(
    page: BrowserPage,
    values?: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<BrowserPage>;
  /** @returns the Cookie header for a URL. */
  cookiesFor(url: string): string;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

const MAX_REDIRECTS = 10;

/** @param stopsAt origins that the browser does not request: it shows an empty page for them. */
export function createBrowser(stopsAt: readonly string[] = []): Browser {
  const jar = new Map<string, Cookie>();
  const cookiesFor = (url: string) => {
    const { pathname } = new URL(url);
    const matching = [...jar.values()].filter(({ path }) => pathname === path || pathname.startsWith(withSlash(path)));
    return matching.map(({ name, value }) => `${name}=${value}`).join('; ');
  };
  const load = async (url: string, init: RequestInit, depth = 0): Promise<BrowserPage> => {
    if (stopsAt.includes(new URL(url).origin)) return toPage(url, 200, new Headers(), '');
    if (depth > MAX_REDIRECTS) throw new Error(`too many redirects at ${url}`);
    const cookie = cookiesFor(url);
    const headers = { accept: 'text/html,*/*;q=0.8', ...(cookie !== '' && { cookie }), ...init.headers };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) keepCookie(jar, url, line);
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location) {
      await response.body?.cancel();
      return load(new URL(location, url).href, {}, depth + 1);
    }
    return toPage(url, response.status, response.headers, await response.text());
  };
  return {
    open: (url) => load(url, {}),
    submit: (page, values = {}, headers = {}) => {
      const action = decode(/<form[^>]*\baction="([^"]*)"/.exec(page.html)?.[1] ?? page.url);
      const body = new URLSearchParams({ ...hiddenFields(page.html), ...values });
      return load(new URL(action, page.url).href, {
        method: 'POST',
        body,
        headers: { 'sec-fetch-site': 'same-origin', ...headers },
      });
    },
    cookiesFor,
  };
}

function toPage(url: string, status: number, headers: Headers, html: string): BrowserPage {
  const inputs = [...html.matchAll(/<input\b[^>]*>/g)]
    .map(([tag]) => tag)
    .filter((tag) => !/type="hidden"| hidden>/.test(tag));
  return {
    ...{ url, status, headers, html },
    title: decode(/<h1>([^<]*)<\/h1>/.exec(html)?.[1] ?? ''),
    problem: decodeOptional(/role="alert"[^>]*>([^<]*)</.exec(html)?.[1]),
    fields: inputs.map((tag) => /name="([^"]*)"/.exec(tag)?.[1] ?? ''),
  };
}

function keepCookie(jar: Map<string, Cookie>, url: string, line: string): void {
  const [pair = '', ...attributes] = line.split(/;\s*/);
  const at = pair.indexOf('=');
  const path = attributes.find((part) => /^path=/i.test(part))?.slice(5) ?? new URL(url).pathname;
  const cookie = { name: pair.slice(0, at), value: pair.slice(at + 1), path };
  const isGone = attributes.some((part) => /^expires=Thu, 01 Jan 1970/i.test(part));
  const key = `${cookie.name} ${path}`;
  if (isGone || cookie.value === '') jar.delete(key);
  else jar.set(key, cookie);
}

function hiddenFields(html: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [tag] of html.matchAll(/<input\b[^>]*type="hidden"[^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(tag)?.[1];
    if (name !== undefined) fields[name] = decode(/value="([^"]*)"/.exec(tag)?.[1] ?? '');
  }
  return fields;
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}

function decodeOptional(text: string | undefined): string | undefined {
  return text === undefined ? undefined : decode(text);
}

function decode(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
