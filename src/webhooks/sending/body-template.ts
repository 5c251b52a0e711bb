/**
 * Templates of bodies (R-I1): text with places such as `{{data.variableId}}`, `{{data.variables[0].from}}`, `{{type}}`
 * and `{{json data}}`. No code, no loops, no reach beyond what the message itself has. In a template of JSON what is put
 * in is a whole value, or a part of the text in whose quotes it stands: no data can make anything else of the JSON.
 */

/** A place where a value is put in. */
interface ValuePart {
  readonly kind: 'value';
  readonly path: readonly (string | number)[];
  /** `{{json path}}`: with its quotes. */
  readonly isQuoted: boolean;
  /** Of a template of JSON: inside quotes, or where a value stands. */
  readonly position: 'text' | 'inString' | 'asValue';
  readonly source: string;
}

interface TextPart {
  readonly kind: 'text';
  readonly source: string;
}

type Part = ValuePart | TextPart;

export interface TemplateProblem {
  /** Characters before it. */
  readonly offset: number;
  /** Goes on after a path. */
  readonly message: string;
}

export interface Template {
  readonly parts: readonly Part[];
  readonly problems: readonly TemplateProblem[];
}

export const MAX_TEMPLATE_LENGTH = 65_536;
export const MAX_BODY_BYTES = 1 << 20;

const NAME = '[A-Za-z_$][\\w$-]*';
const PLACE = new RegExp(`^[ \\t]*(json[ \\t]+)?(${NAME}(?:\\.${NAME}|\\[\\d{1,9}\\])*)[ \\t]*$`);
const STEP = new RegExp(`${NAME}|\\d+`, 'g');
const OPEN = '{{';
const CLOSE = '}}';

/** @param isJson whether the body is to be JSON; decides how values are put in. */
export function parseTemplate(text: string, isJson: boolean): Template {
  const parts: Part[] = [];
  const problems: TemplateProblem[] = [];
  const state = isJson ? JSON_START : undefined;
  for (let offset = 0, json = state; offset < text.length; ) {
    const part = readPart(text, offset);
    if (part.kind === 'problem') {
      problems.push(part);
    } else if (part.kind === 'text') {
      parts.push(part);
      json = json && readJson(json, part.source);
    } else {
      if (json && json.escapeLeft > 0) problems.push({ offset, message: 'must not put a value in behind a backslash' });
      parts.push({ ...part, position: json ? (json.isInString ? 'inString' : 'asValue') : 'text' });
    }
    offset += part.source.length;
  }
  return { parts, problems };
}

/**
 * The template with something harmless in its places, every character where it was: when this is JSON, so is whatever
 * is rendered.
 */
export function templateSkeleton({ parts }: Template): string {
  const fill = (part: ValuePart) => (part.position === 'asValue' ? 'null'.padEnd(part.source.length) : '');
  return parts
    .map((part) => (part.kind === 'text' ? part.source : fill(part) || 'x'.repeat(part.source.length)))
    .join('');
}

/** @returns the body; undefined when it would be larger than 1 MiB. */
export function renderTemplate({ parts }: Template, values: unknown): string | undefined {
  const rendered: string[] = [];
  let length = 0;
  for (const part of parts) {
    const text = part.kind === 'text' ? part.source : renderPart(part, findValue(values, part.path));
    length += text.length;
    if (length > MAX_BODY_BYTES) return undefined;
    rendered.push(text);
  }
  const body = rendered.join('');
  return Buffer.byteLength(body) > MAX_BODY_BYTES ? undefined : body;
}

function readPart(text: string, offset: number): Part | (TemplateProblem & { kind: 'problem'; source: string }) {
  if (!text.startsWith(OPEN, offset)) {
    const next = text.indexOf(OPEN, offset);
    return { kind: 'text', source: text.slice(offset, next < 0 ? undefined : next) };
  }
  const end = text.indexOf(CLOSE, offset + OPEN.length);
  if (end < 0) return { kind: 'problem', offset, message: 'has {{ without }}', source: text.slice(offset) };
  const source = text.slice(offset, end + CLOSE.length);
  const [, json, path] = PLACE.exec(source.slice(OPEN.length, -CLOSE.length)) ?? [];
  if (path === undefined) {
    const message = 'has {{…}} with no path in it: expected {{data.name}}, {{data.list[0].name}} or {{json data}}';
    return { kind: 'problem', offset, message, source };
  }
  return { kind: 'value', path: parsePath(path), isQuoted: json !== undefined, position: 'text', source };
}

function parsePath(path: string): readonly (string | number)[] {
  return (path.match(STEP) ?? []).map((step) => (/^\d/.test(step) ? Number(step) : step));
}

/** Where in JSON a reader is: inside quotes, and how many characters of an escape are still to come. */
interface JsonState {
  readonly isInString: boolean;
  readonly escapeLeft: number;
}

const JSON_START: JsonState = { isInString: false, escapeLeft: 0 };

function readJson(before: JsonState, text: string): JsonState {
  let { isInString, escapeLeft } = before;
  for (const character of text) {
    if (!isInString) isInString = character === '"';
    else if (escapeLeft === 1 && character === 'u') escapeLeft = 5;
    else if (escapeLeft > 1) escapeLeft = escapeLeft === 2 ? 0 : escapeLeft - 1;
    else if (escapeLeft === 1) escapeLeft = 0;
    else if (character === '\\') escapeLeft = 1;
    else isInString = character !== '"';
  }
  return { isInString, escapeLeft };
}

/** Own members alone, of objects and arrays. */
function findValue(values: unknown, path: readonly (string | number)[]): unknown {
  let value = values;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

function renderPart({ position, isQuoted }: ValuePart, value: unknown): string {
  if (position === 'asValue') return toJson(value);
  if (isQuoted) return position === 'inString' ? escapeText(toJson(value)) : toJson(value);
  if (value === undefined) return '';
  if (typeof value === 'string') return escapeText(value);
  return position === 'inString' ? escapeText(toJson(value)) : toJson(value);
}

function toJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
