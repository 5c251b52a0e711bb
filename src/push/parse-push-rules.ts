/**
 * Reads the body of a push: an array of push elements, property names in any case, null members ignored. Hand-made
 * because it sees every reading; it names every place that is wrong, the first 100, or returns all elements.
 */
import type { ErrorDetail } from '../platform/errors.ts';
import { isStorableText } from '../platform/storable-text.ts';
import { DATE_RULE, parseDate } from '../points/date-rules.ts';
import type { Tags } from '../points/label-rules.ts';
import type { PushElement, PushLimits, Reading, TargetIdentifiers } from './push-element.ts';

export type ParsedPush =
  | { readonly kind: 'ok'; readonly elements: readonly PushElement[]; readonly readingCount: number }
  | { readonly kind: 'invalid'; readonly details: readonly ErrorDetail[] }
  | { readonly kind: 'too_large'; readonly message: string };

const MAX_DETAILS = 100;
const MAX_ID = 2_147_483_647;
const MAX_TEXT = 1000;
const MAX_VERSION = 200;
const MAX_TAGS = 50;
const NUMBER_TEXT = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;
const TEXT_IDENTIFIERS = ['sourceSerialNumber', 'sourceEan', 'sourceName', 'meterNumber', 'mappingConfig'] as const;
const ID_IDENTIFIERS = ['variableId', 'sourceId', 'variableTypeId'] as const;
// §2: these come from the token, never from the body.
const FORBIDDEN = ['accountId', 'userId', 'role'] as const;

type Members = Readonly<Record<string, unknown>>;

class Problems {
  readonly details: ErrorDetail[] = [];

  add(path: string, message: string): void {
    if (this.details.length < MAX_DETAILS) this.details.push({ path, message });
  }
}

export function parsePush(body: unknown, { maxElements, maxReadings }: PushLimits): ParsedPush {
  const problems = new Problems();
  if (!Array.isArray(body)) {
    return {
      kind: 'invalid',
      details: [{ path: '$', message: `must be an array of push elements, got ${kindOf(body)}` }],
    };
  }
  if (body.length > maxElements) {
    return { kind: 'too_large', message: `a push may have at most ${maxElements} elements, got ${body.length}` };
  }
  let readingCount = 0;
  const elements: PushElement[] = [];
  for (const [index, element] of body.entries()) {
    const parsed = parseElement(element, `$[${index}]`, problems);
    readingCount += parsed.readings.length;
    elements.push(parsed);
  }
  if (readingCount > maxReadings) {
    return { kind: 'too_large', message: `a push may have at most ${maxReadings} readings, got ${readingCount}` };
  }
  if (problems.details.length > 0) return { kind: 'invalid', details: problems.details };
  return { kind: 'ok', elements, readingCount };
}

function parseElement(element: unknown, path: string, problems: Problems): PushElement {
  if (!isObject(element)) {
    problems.add(path, `must be an object, got ${kindOf(element)}`);
    return { target: {}, readings: [] };
  }
  for (const name of FORBIDDEN) {
    if (member(element, name) !== undefined)
      problems.add(`${path}.${name}`, 'must not be sent: it is taken from the token');
  }
  return {
    target: parseTarget(element, path, problems),
    ...parseLabels(element, path, problems),
    readings: parseReadings(member(element, 'data'), `${path}.data`, problems),
  };
}

function parseTarget(element: Members, path: string, problems: Problems): TargetIdentifiers {
  const target: Record<string, number | string> = {};
  for (const name of ID_IDENTIFIERS) {
    const value = member(element, name);
    if (value === undefined) continue;
    const id = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
    if (typeof id === 'number' && Number.isInteger(id) && id >= 0 && id <= MAX_ID) target[name] = id;
    else problems.add(`${path}.${name}`, `must be an integer id, got ${show(value)}`);
  }
  for (const name of TEXT_IDENTIFIERS) {
    const value = member(element, name);
    if (value === undefined) continue;
    // A serial number is often sent as a bare number.
    const text = typeof value === 'number' ? String(value) : value;
    if (isText(text, MAX_TEXT)) target[name] = text;
    else problems.add(`${path}.${name}`, `${textRule(MAX_TEXT)}, got ${show(value)}`);
  }
  return target;
}

function parseReadings(data: unknown, path: string, problems: Problems): readonly Reading[] {
  if (!Array.isArray(data)) {
    problems.add(path, `must be an array of readings, got ${kindOf(data)}`);
    return [];
  }
  return data.map((reading: unknown, index) => parseReading(reading, path, index, problems));
}

const NO_READING: Reading = { date: { micros: 0, isLocal: false }, value: 0 };

// The path is spelled only where something is wrong: most readings are right.
function parseReading(reading: unknown, path: string, index: number, problems: Problems): Reading {
  if (!isObject(reading)) {
    problems.add(`${path}[${index}]`, `must be an object, got ${kindOf(reading)}`);
    return NO_READING;
  }
  const dateText = member(reading, 'date');
  const date = typeof dateText === 'string' ? parseDate(dateText) : undefined;
  if (!date) problems.add(`${path}[${index}].date`, `${DATE_RULE}, got ${show(dateText)}`);
  const given = member(reading, 'value');
  const value = typeof given === 'string' && NUMBER_TEXT.test(given) ? Number(given) : given;
  const isNumber = typeof value === 'number' && Number.isFinite(value);
  if (!isNumber) problems.add(`${path}[${index}].value`, `must be a finite number, got ${show(given)}`);
  if (!date || !isNumber) return NO_READING;
  const labels = parseLabels(reading, `${path}[${index}]`, problems);
  return { date, value, ...labels };
}

/** `version` and `tags`, of an element or a reading. An empty version is none. */
function parseLabels(object: Members, path: string, problems: Problems): { version?: string; tags?: Tags } {
  const labels: { version?: string; tags?: Tags } = {};
  const version = member(object, 'version');
  if (isText(version, MAX_VERSION)) {
    if (version !== '') labels.version = version;
  } else if (version !== undefined) {
    problems.add(`${path}.version`, `${textRule(MAX_VERSION)}, got ${show(version)}`);
  }
  const tags = member(object, 'tags');
  if (tags !== undefined) labels.tags = parseTags(tags, `${path}.tags`, problems);
  return labels;
}

function parseTags(tags: unknown, path: string, problems: Problems): Tags {
  if (!isObject(tags)) {
    problems.add(path, `must be an object of texts, got ${kindOf(tags)}`);
    return {};
  }
  const entries = Object.entries(tags).filter(([, value]) => value !== null);
  if (entries.length > MAX_TAGS) problems.add(path, `must have at most ${MAX_TAGS} keys, got ${entries.length}`);
  for (const [key, value] of entries) {
    if (!isText(value, MAX_TEXT) || !isText(key, MAX_VERSION)) {
      problems.add(`${path}.${key}`, `${textRule(MAX_TEXT)}, got ${show(value)}`);
    }
  }
  return Object.fromEntries(entries) as Tags;
}

/** A member by its name in any case; null counts as absent. The exact name is looked up first: it is the usual one. */
function member(object: Members, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name] ?? undefined;
  const lower = name.toLowerCase();
  for (const key of Object.keys(object)) {
    if (key.length === name.length && key.toLowerCase() === lower) return object[key] ?? undefined;
  }
  return undefined;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value.length <= maxLength && isStorableText(value);
}

function textRule(maxLength: number): string {
  return `must be a text of at most ${maxLength} characters without U+0000 or an unpaired surrogate`;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}

/** Arrays and objects are only named: they may be as large and as deep as the body. */
function show(value: unknown): string {
  if (typeof value === 'object' || value === undefined) return kindOf(value);
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
