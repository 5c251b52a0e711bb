/**
 * Body templates (R-I1): text with placeholders such as `{{data.variableId}}`, `{{data.variables[0].from}}`, `{{type}}`
 * and `{{json data}}`. Templates have no code and no loops, and do not read inherited members of the message. In a JSON
 * template a placeholder is a whole value or part of a string, so no data can change the structure of the JSON.
 *
 * The package `mustache` 4.2 does not fit: it has sections, partials and lambdas, and cannot tell whether a placeholder
 * of a JSON template is inside a string.
 */

/** A placeholder. */
interface ValuePart {
  readonly kind: 'value';
  readonly path: readonly (string | number)[];
  /** Whether the placeholder is `{{json path}}`, which keeps the quotes of strings. */
  readonly isQuoted: boolean;
  /**
   * Where the placeholder is:
   * - inString: inside a string of a JSON template.
   * - asValue: a whole value of a JSON template.
   * - text: in any other template.
   */
  readonly position: 'text' | 'inString' | 'asValue';
  readonly source: string;
}

interface TextPart {
  readonly kind: 'text';
  readonly source: string;
}

type Part = ValuePart | TextPart;

export interface TemplateProblem {
  /** Number of characters of the template before the faulty placeholder. */
  readonly offset: number;
  /**
   * The rule that the template breaks, such as `must close every "{{" with "}}"`. An error shows the rule after the
   * path of the field that holds the template.
   */
  readonly message: string;
}

export interface Template {
  readonly parts: readonly Part[];
  readonly problems: readonly TemplateProblem[];
}

export const MAX_TEMPLATE_LENGTH = 65_536;
export const MAX_BODY_BYTES = 1 << 20;

const NAME = '[A-Za-z_$][\\w$-]*';
const PLACEHOLDER = new RegExp(`^[ \\t]*(json[ \\t]+)?(${NAME}(?:\\.${NAME}|\\[\\d{1,9}\\])*)[ \\t]*$`);
const STEP = new RegExp(`${NAME}|\\d+`, 'g');
const OPEN = '{{';
const CLOSE = '}}';

/**
 * Parses a body template (R-I1).
 * @param isJson whether the body is JSON, which decides how values are escaped.
 * @returns the parts of the template and every problem of its placeholders. The JSON of the template is not checked.
 */
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
      if (json && json.escapeLeft > 0)
        problems.push({ offset, message: 'must not have a placeholder inside an escape sequence' });
      parts.push({ ...part, position: json ? (json.isInString ? 'inString' : 'asValue') : 'text' });
    }
    offset += part.source.length;
  }
  return { parts, problems };
}

/**
 * @returns the text of the template with each placeholder replaced by a harmless value of the placeholder's length, so
 *   that offsets do not change (R-I1). When the returned text is JSON, every body rendered from the template is JSON.
 */
export function templateSkeleton({ parts }: Template): string {
  const fill = (part: ValuePart) => (part.position === 'asValue' ? 'null'.padEnd(part.source.length) : '');
  return parts
    .map((part) => (part.kind === 'text' ? part.source : fill(part) || 'x'.repeat(part.source.length)))
    .join('');
}

/**
 * Fills the placeholders of a template (R-I1).
 * @param values the envelope of the message.
 * @returns the body; undefined when it exceeds MAX_BODY_BYTES.
 */
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
  if (end < 0)
    return { kind: 'problem', offset, message: 'must close every "{{" with "}}"', source: text.slice(offset) };
  const source = text.slice(offset, end + CLOSE.length);
  const [, json, path] = PLACEHOLDER.exec(source.slice(OPEN.length, -CLOSE.length)) ?? [];
  if (path === undefined) {
    const message = 'must have a path in {{…}}, such as {{data.name}}, {{data.list[0].name}} or {{json data}}';
    return { kind: 'problem', offset, message, source };
  }
  return { kind: 'value', path: parsePath(path), isQuoted: json !== undefined, position: 'text', source };
}

function parsePath(path: string): readonly (string | number)[] {
  return (path.match(STEP) ?? []).map((step) => (/^\d/.test(step) ? Number(step) : step));
}

/** State of the JSON scanner: whether it is inside a string, and how many characters of an escape sequence are left. */
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

/** @returns the value at the path; undefined when the path does not exist. Inherited members are ignored. */
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
