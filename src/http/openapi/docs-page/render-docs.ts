/**
 * `/docs` (R-A9): the document as one page of our own. It works without its script, which adds a filter and forms to try
 * operations; the policy lets it load nothing and talk to nobody but this service.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { escapeHtml } from '../../../platform/mail/mail-render.ts';
import type { OpenApiDocument } from '../build-document.ts';
import type { JsonSchema } from '../json-schemas.ts';
import { STYLE } from './docs-style.ts';
import { operationHtml, type PlacedOperation } from './operation-html.ts';
import { membersHtml, typeHtml } from './schema-html.ts';
import { inlineHtml, textHtml } from './text-html.ts';

export interface RenderedDocs {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);

export function renderDocs(document: OpenApiDocument): RenderedDocs {
  const script = readFileSync(new URL('./docs-script.mjs', import.meta.url), 'utf8');
  const { title, version, description } = document.info;
  const html = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} API</title>
<style>${STYLE}</style>
</head>
<body>
<a class="skip" href="#operations">To the operations</a>
<div class="frame">
${navigationHtml(document)}
<main>
<h1>${escapeHtml(title)} API ${escapeHtml(version)}</h1>
<p><a href="/openapi.json">openapi.json</a> is the same for programs: OpenAPI 3.1.</p>
${textHtml(description)}
${authorizationHtml(document)}
${toolsHtml()}
<div id="operations">
${document.tags.map((tag) => tagHtml(tag, document)).join('\n')}
</div>
${eventsHtml(document)}
${schemasHtml(document)}
</main>
</div>
<script type="module">${script}</script>
</body>
</html>
`;
  return { html, headers: docsHeaders(script) };
}

function docsHeaders(script: string): Readonly<Record<string, string>> {
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = [
    `default-src 'none'`,
    `style-src ${hash(STYLE)}`,
    `script-src ${hash(script)}`,
    `connect-src 'self'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
  ];
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  };
}

function navigationHtml({ tags }: OpenApiDocument): string {
  const links = tags.map(({ name }) => `<li><a href="#tag-${name}">${escapeHtml(name)}</a></li>`);
  return `<nav aria-label="Parts of the API"><ul>${links.join('')}<li><a href="#events">Events</a></li><li><a href="#schemas">Schemas</a></li></ul></nav>`;
}

function authorizationHtml({ components, servers }: OpenApiDocument): string {
  const { oauth2 } = (components.securitySchemes ?? {}) as unknown as {
    readonly oauth2: { readonly flows: { readonly password: { readonly tokenUrl: string } } };
  };
  const { tokenUrl } = oauth2.flows.password;
  return `<p><strong>Credentials</strong> are a bearer token of <code id="token-url">${escapeHtml(tokenUrl)}</code>; push also takes HTTP Basic.
Below, <code>$API</code> is <code>${escapeHtml(servers[0]?.url ?? '')}</code>.</p>`;
}

/** Shown by the script, which makes them work. */
function toolsHtml(): string {
  return `<form class="tools" id="tools" hidden>
<label>Filter <input id="filter" name="filter" type="search" autocomplete="off" placeholder="path, name or word"></label>
<label>Bearer token, kept in this page alone <input id="token" name="token" type="password" autocomplete="off"></label>
</form>
<p id="found" role="status"></p>`;
}

function tagHtml({ name, description }: OpenApiDocument['tags'][number], document: OpenApiDocument): string {
  const operations = operationsOf(document).filter(
    ({ operation }) => (operation.tags as readonly string[])[0] === name,
  );
  return `<section class="tag" aria-labelledby="tag-${name}">
<h2 id="tag-${name}">${escapeHtml(name)}</h2>
<p>${inlineHtml(description)}</p>
${operations.map((operation) => operationHtml(operation, document)).join('\n')}
</section>`;
}

function operationsOf({ paths }: OpenApiDocument): readonly PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => (METHODS.has(method) ? [{ method, path, operation }] : [])),
  );
}

function eventsHtml({ webhooks }: OpenApiDocument): string {
  const events = Object.entries(webhooks).map(([type, { post }]) => {
    const { requestBody } = post as { readonly requestBody: EventBody };
    const { example } = requestBody.content['application/json'];
    return `<details id="event-${type}">
<summary><code class="path">${type}</code></summary>
<div class="inside"><pre tabindex="0"><code>${escapeHtml(JSON.stringify(example, null, 2))}</code></pre></div>
</details>`;
  });
  return `<section aria-labelledby="events">
<h2 id="events">Events</h2>
<p>What webhooks are told, signed as Standard Webhooks are, at least once: <code>webhook-id</code> is the same on every try.</p>
${events.join('\n')}
</section>`;
}

interface EventBody {
  readonly content: { readonly 'application/json': { readonly example: unknown } };
}

function schemasHtml({ components }: OpenApiDocument): string {
  const schemas = Object.entries(components.schemas ?? {}).sort(([a], [b]) => a.localeCompare(b));
  return `<section aria-labelledby="schemas">
<h2 id="schemas">Schemas</h2>
${schemas.map(([name, schema]) => schemaHtml(name, schema)).join('\n')}
</section>`;
}

function schemaHtml(name: string, schema: JsonSchema): string {
  const { description } = schema;
  return `<details id="schema-${name}">
<summary><code class="path">${escapeHtml(name)}</code></summary>
<div class="inside">${typeof description === 'string' ? textHtml(description) : ''}<p class="type">${typeHtml(schema)}</p>
${membersHtml(schema)}</div>
</details>`;
}
