/**
 * Serves `/openapi.json` and `/docs` (R-A9). Neither path needs a token. The OpenAPI document is built at the first
 * request and kept.
 */
import { type Context, Hono } from 'hono';
import { buildDocument, type Description } from './build-document.ts';
import { docsRoutes, etagOf, isKnown } from './docs-routes.ts';

interface Kept {
  readonly body: string;
  readonly etag: string;
}

/**
 * Creates the routes, to be mounted at the root before authentication (R-A9).
 * @param describe reads the description. It is called at the first request, and again only when the last call failed.
 */
export function descriptionRoutes(describe: () => Promise<Description>): Hono {
  const description = once(describe);
  const json = once(async () => {
    const body = JSON.stringify(await buildDocument(await description()));
    return { body, etag: etagOf(body) };
  });
  return new Hono()
    .get('/openapi.json', async (c) => answer(c, await json()))
    .route(
      '/',
      docsRoutes(async () => (await description()).addresses),
    );
}

/** Answers with an ETag, so that clients can revalidate a cached document. */
function answer(c: Context, { body, etag }: Kept): Response {
  c.header('ETag', etag);
  c.header('Cache-Control', 'public, max-age=300');
  c.header('Content-Type', 'application/json; charset=utf-8');
  return isKnown(c, etag) ? c.body(null, 304) : c.body(body);
}

/** Memoizes a promise. A rejected promise is forgotten, so the next call tries again. */
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
