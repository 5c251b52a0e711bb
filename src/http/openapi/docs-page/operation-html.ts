/** One operation as HTML, closed until somebody opens it. */
import { escapeHtml } from '../../../platform/mail/mail-render.ts';
import type { OpenApiDocument } from '../build-document.ts';
import type { JsonSchema } from '../json-schemas.ts';
import { exampleOf } from './example.ts';
import { membersHtml, notesHtml, typeHtml } from './schema-html.ts';
import { inlineHtml, textHtml } from './text-html.ts';

export interface PlacedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: JsonSchema;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

interface Content {
  readonly [type: string]: { readonly schema: JsonSchema };
}

interface Answer {
  readonly $ref?: string;
  readonly description: string;
  readonly content?: Content;
}

export function operationHtml({ method, path, operation }: PlacedOperation, document: OpenApiDocument): string {
  const { operationId, summary, description, deprecated } = operation as Readonly<Record<string, string>>;
  const id = `op-${operationId}`;
  const old = deprecated ? ' <span class="old">deprecated</span>' : '';
  return `<details class="operation" id="${id}" data-method="${method}" data-path="${escapeHtml(path)}">
<summary><span class="method ${method}">${method.toUpperCase()}</span> <code class="path">${pathHtml(path)}</code>
<span class="summary">${inlineHtml(summary ?? '')}${old}</span></summary>
<div class="inside">
${textHtml(description ?? '')}
${parametersHtml(operation, document)}${bodyHtml(operation)}${answersHtml(operation, document)}
<h4>Example</h4>
<pre tabindex="0"><code>${escapeHtml(curlOf({ method, path, operation }, document))}</code></pre>
</div>
</details>`;
}

/** A line may end behind a slash. */
function pathHtml(path: string): string {
  return escapeHtml(path).replaceAll('/', '/<wbr>');
}

/** Headers that all have are told of once. */
function parametersHtml({ parameters }: JsonSchema, { components }: OpenApiDocument): string {
  const own = (parameters as readonly Parameter[]).map((parameter) => {
    const { $ref } = parameter;
    return $ref === undefined
      ? parameter
      : (components.parameters?.[$ref.slice($ref.lastIndexOf('/') + 1)] as unknown as Parameter);
  });
  const shown = own.filter(({ name }) => name !== 'Api-Version' && name !== 'X-Request-Id');
  if (shown.length === 0) return '';
  const rows = shown.map(({ name, in: place, description, required, schema }) => {
    const must = required ? ' <em>required</em>' : '';
    return `<li data-name="${escapeHtml(name)}" data-in="${place}"><code>${escapeHtml(name)}</code> <span class="type">${typeHtml(schema)}, in ${place}</span>${must}${notesHtml(schema)} <span class="words">${inlineHtml(description)}</span></li>`;
  });
  return `<h4>Parameters</h4>\n<ul class="members">${rows.join('\n')}</ul>\n`;
}

function bodyHtml({ requestBody }: JsonSchema): string {
  if (requestBody === undefined) return '';
  const {
    description = '',
    content,
    required,
  } = requestBody as {
    readonly description?: string;
    readonly content: Content;
    readonly required: boolean;
  };
  const title = required ? 'Body' : 'Body, which may be left out';
  return `<h4>${title}</h4>\n${textHtml(description)}${contentHtml(content)}`;
}

function contentHtml(content: Content): string {
  const types = Object.entries(content);
  const [[, first] = ['', { schema: {} }]] = types;
  const isAlike = types.every(([, { schema }]) => JSON.stringify(schema) === JSON.stringify(first.schema));
  const shown = isAlike ? [[types.map(([type]) => type).join(' or '), first] as const] : types;
  return shown
    .map(([type, { schema }]) => {
      const { description } = schema;
      const words = typeof description === 'string' ? ` <span class="words">${inlineHtml(description)}</span>` : '';
      return `<div class="content"><code>${escapeHtml(type)}</code> <span class="type">${typeHtml(schema)}</span>${words}${membersHtml(schema)}</div>`;
    })
    .join('\n');
}

function answersHtml({ responses }: JsonSchema, { components }: OpenApiDocument): string {
  const rows = Object.entries(responses as Readonly<Record<string, Answer>>).map(([status, answer]) => {
    const { $ref } = answer;
    const shared = $ref && (components.responses?.[$ref.slice($ref.lastIndexOf('/') + 1)] as unknown as Answer);
    const { description, content } = shared || answer;
    return `<li><strong>${status}</strong> ${inlineHtml(description)}${content && !shared ? contentHtml(content) : ''}</li>`;
  });
  return `<h4>Answers</h4>\n<ul class="members">${rows.join('\n')}</ul>\n`;
}

/** A command that works once the variables in it are set. */
function curlOf({ method, path, operation }: PlacedOperation, document: OpenApiDocument): string {
  const { security, requestBody } = operation;
  const isOpen = (security as readonly unknown[]).length === 0;
  const lines = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "$API${path.replace(/\{(\w+)\}/g, '$$$1')}${queryOf(operation)}"`,
    ...(isOpen ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(requestBody === undefined ? [] : sendingOf(requestBody as { readonly content: Content }, document)),
  ];
  return lines.join(' \\\n  ');
}

/** Parameters that must be there. */
function queryOf({ parameters }: JsonSchema): string {
  const names = (parameters as readonly Parameter[])
    .filter((it) => it.in === 'query' && it.required)
    .map(({ name }) => name);
  return names.length === 0 ? '' : `?${names.map((name) => `${name}=$${name}`).join('&')}`;
}

function sendingOf({ content }: { readonly content: Content }, { components }: OpenApiDocument): readonly string[] {
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(content);
  const example = exampleOf(schema, components.schemas ?? {});
  if (type === 'multipart/form-data') return ['-F data=@file.csv'];
  if (type === 'application/x-www-form-urlencoded') {
    return [
      '-d grant_type=password -d client_id=… -d client_secret=…',
      '-d username=… -d password=… -d "scope=datahub-api push-data"',
    ];
  }
  return [`-H 'Content-Type: ${type}'`, `-d '${JSON.stringify(example, null, 2).replaceAll("'", "'\\''")}'`];
}
