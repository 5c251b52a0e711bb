/**
 * Error messages about push bodies, and functions that check one member of a body. The parser and the schema use both.
 */
import { isStorableText } from '../../platform/database/storable-text.ts';
import { type ParsedDate, parseDate, parseEpochMillis } from '../../platform/dates/date-rules.ts';
import { MAX_INT4, MAX_SHOWN, MAX_TEXT } from '../../platform/limits.ts';
import { MAX_TAGS, MAX_VERSION } from '../../points/label-rules.ts';

export const FORBIDDEN_RULE = 'must not be sent, because the service takes it from the token';
export const ID_RULE = `must be an integer id from 0 to ${MAX_INT4}`;
export const TEXT_RULE = textRule(MAX_TEXT);

const NUMBER_TEXT = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;

/**
 * @param what the expected type, such as `an object`.
 * @returns the message, such as `must be an object, got null`.
 */
export const mustBe = (what: string, value: unknown): string => `must be ${what}, got ${kindOf(value)}`;
/**
 * @param rule the rule, such as `must be a finite number`.
 * @returns the message, such as `must be a finite number, got "x"`; a long value is truncated.
 */
export const got = (rule: string, value: unknown): string => `${rule}, got ${show(value)}`;
/**
 * @param count number of tags received.
 * @returns the message for an element or a reading with too many tags.
 */
export const tooManyTags = (count: number): string => `must have at most ${MAX_TAGS} keys, got ${count}`;

/** @returns the rule that `isText` checks, for an error message. */
export function textRule(maxLength: number): string {
  return `must be a string of at most ${maxLength} characters, with no U+0000 and no unpaired surrogate`;
}

/** @returns true when the value satisfies the rule `textRule(maxLength)`. */
export function isText(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value.length <= maxLength && isStorableText(value);
}

/** @returns the message for a tag with an invalid key or value; undefined for a valid tag. */
export function tagProblem(key: string, value: unknown): string | undefined {
  if (!isText(key, MAX_VERSION)) return got(`the key ${textRule(MAX_VERSION)}`, key);
  return isText(value, MAX_TEXT) ? undefined : got(TEXT_RULE, value);
}

/** Parses a date that is given as text or as a number of epoch milliseconds. @returns undefined for any other value. */
export function toDate(value: unknown): ParsedDate | undefined {
  if (typeof value === 'number') return parseEpochMillis(value);
  return typeof value === 'string' ? parseDate(value) : undefined;
}

/** Converts a numeric text to its number. Returns any other value unchanged. */
export function toNumber(value: unknown): unknown {
  return typeof value === 'string' && NUMBER_TEXT.test(value) ? Number(value) : value;
}

/** @returns the number that a text of one to ten digits means; any other value unchanged. */
export function toId(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}

/** Names the type of arrays and objects instead of printing them, because they may be as large as the body. */
function show(value: unknown): string {
  if (typeof value === 'object' || value === undefined) return kindOf(value);
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 3)}...` : text;
}
