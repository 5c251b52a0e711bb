/** `/openapi.json` and `/docs` (R-A9): made when they are first asked for, then kept. Neither needs a token. */
import { createHash } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { buildDocument, type Description } from './build-document.ts';
import { renderDocs } from './docs-page/render-docs.ts';

interface Kept {
  readonly body: string;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Clients may keep them, and ask whether they are still the same. */
const CACHE_CONTROL = 'public, max-age=300';

/** To be mounted at the root, in front of the bearer. @param describe called once, when somebody asks. */
export function descriptionRoutes(describe: () => Promise<Description>): Hono {
  const document = once(async () => buildDocument(await describe()));
  const json = once(async () => {
    return keep(JSON.stringify(await document()), { 'Content-Type': 'application/json; charset=utf-8' });
  });
  const docs = once(async () => {
    const { html, headers } = renderDocs(await document());
    return keep(html, headers);
  });
  return new Hono()
    .get('/openapi.json', async (c) => answer(c, await json()))
    .get('/docs', async (c) => answer(c, await docs()));
}

function keep(body: string, headers: Kept['headers']): Kept {
  const digest = createHash('sha256').update(body).digest('base64url').slice(0, 27);
  // Weak: it is sent compressed and not.
  return { body, etag: `W/"${digest}"`, headers: { 'Cache-Control': CACHE_CONTROL, ...headers } };
}

function answer(c: Context, { body, etag, headers }: Kept): Response {
  for (const [name, value] of Object.entries({ ...headers, ETag: etag })) c.header(name, value);
  const known = (c.req.header('if-none-match') ?? '').split(',').map((tag) => tag.trim());
  return known.includes(etag) || known.includes('*') ? c.body(null, 304) : c.body(body);
}

/** What failed is made again. */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
