/** JSON Schemas as HTML: what a value is in a few words, and its members as nested lists. */
import { escapeHtml } from '../../../platform/mail/mail-render.ts';
import type { JsonSchema } from '../json-schemas.ts';
import { inlineHtml } from './text-html.ts';

const COMPONENT = '#/components/schemas/';
const LIMITS: readonly (readonly [name: string, words: string])[] = [
  ['minimum', 'at least'],
  ['maximum', 'at most'],
  ['minLength', 'characters at least'],
  ['maxLength', 'characters at most'],
  ['minItems', 'entries at least'],
  ['maxItems', 'entries at most'],
  ['maxProperties', 'members at most'],
];
// Every id has it: it tells nothing.
const MAX_INT4 = 2_147_483_647;

/** Name of the component a schema refers to. */
export function componentOf({ $ref }: JsonSchema): string | undefined {
  return typeof $ref === 'string' && $ref.startsWith(COMPONENT) ? $ref.slice(COMPONENT.length) : undefined;
}

/** What a value is: `text, at most 200 characters`, `list of Site`, … */
export function typeHtml(schema: JsonSchema): string {
  const component = componentOf(schema);
  if (component !== undefined) return `<a href="#schema-${component}">${component}</a>`;
  if (schema.const !== undefined) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`;
  const either = (schema.anyOf ?? schema.oneOf ?? schema.allOf) as readonly JsonSchema[] | undefined;
  if (either) return either.map(typeHtml).join(schema.allOf ? ' and ' : ' or ');
  if (Array.isArray(schema.enum)) return namesHtml(schema.enum);
  const types = [schema.type ?? 'anything'].flat().map(String);
  return [types.map((type) => (type === 'array' ? listHtml(schema) : type)).join(' or '), ...limitsOf(schema)].join(
    ', ',
  );
}

function namesHtml(names: readonly unknown[]): string {
  return names.map((name) => `<code>${escapeHtml(String(name))}</code>`).join(' | ');
}

function listHtml({ items }: JsonSchema): string {
  return `list of ${typeHtml((items ?? {}) as JsonSchema)}`;
}

function limitsOf(schema: JsonSchema): readonly string[] {
  const limits = LIMITS.flatMap(([name, words]) => {
    const limit = schema[name];
    if (typeof limit !== 'number' || limit === MAX_INT4) return [];
    return [name.endsWith('imum') ? `${words} ${limit}` : `${limit} ${words}`];
  });
  const format = schema.format ?? schema.contentMediaType ?? schema.contentEncoding;
  return [...(typeof format === 'string' ? [escapeHtml(format)] : []), ...limits];
}

/** Default and examples, in words. */
export function notesHtml(schema: JsonSchema): string {
  const { default: otherwise, examples } = schema;
  const notes = [
    ...(otherwise === undefined || otherwise === null ? [] : [`default ${codeHtml(otherwise)}`]),
    ...(Array.isArray(examples) && examples.length > 0 ? [`for example ${examples.map(codeHtml).join(', ')}`] : []),
  ];
  return notes.length === 0 ? '' : ` <span class="note">${notes.join('; ')}</span>`;
}

function codeHtml(value: unknown): string {
  return `<code>${escapeHtml(typeof value === 'string' ? value : JSON.stringify(value))}</code>`;
}

/** The members of what is no component of its own, however deep; empty when there are none. */
export function membersHtml(schema: JsonSchema): string {
  const { properties, required, items, anyOf, oneOf, allOf, additionalProperties } = schema;
  if (properties !== undefined) {
    const names = new Set((required ?? []) as readonly string[]);
    const members = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
    return `<ul class="members">${members.map(([name, member]) => memberHtml(name, member, names.has(name))).join('')}</ul>`;
  }
  if (items !== undefined) return membersHtml(items as JsonSchema);
  if (typeof additionalProperties === 'object') return membersHtml(additionalProperties as JsonSchema);
  return ((anyOf ?? oneOf ?? allOf ?? []) as readonly JsonSchema[]).map(membersHtml).join('');
}

function memberHtml(name: string, schema: JsonSchema, isRequired: boolean): string {
  const { description } = schema;
  const must = isRequired ? ' <em>required</em>' : '';
  const words = typeof description === 'string' ? ` <span class="words">${inlineHtml(description)}</span>` : '';
  const type = `<span class="type">${typeHtml(schema)}</span>`;
  return `<li><code>${escapeHtml(name)}</code> ${type}${must}${notesHtml(schema)}${words}${membersHtml(schema)}</li>`;
}
