/**
 * Converts the body of a push to COPY tuples in two steps: parse, then encode. Between the steps the caller resolves
 * targets and labels. Runs on the calling thread: the event loop for small bodies, a worker thread for large bodies
 * (push-readers.ts).
 */
import { createHash } from 'node:crypto';
import { DomainError } from '../../platform/errors.ts';
import { decodeText, parseJson } from '../../platform/http/http-body.ts';
import { invalidInput } from '../../platform/http/lenient.ts';
import { endOfString, parseJsonText } from '../../platform/json/json-text.ts';
import type { Labels } from '../../points/label-rules.ts';
import { type EncodedPush, type EncodeInput, encodePush } from './encode-push.ts';
import { parsePush } from './parse-push.ts';
import type { PushContents, PushLimits, TargetIdentifiers } from './push-element.ts';

/**
 * The targets and labels of a push, and the hash of the body. The caller of `readPush` must look up the ids of the
 * targets and labels before it calls `ReadPush.encode`.
 */
export interface PushSummary {
  readonly targets: readonly TargetIdentifiers[];
  readonly labelTable: readonly Labels[];
  /** SHA-256 of the body; undefined unless requested. */
  readonly bodyHash: Buffer | undefined;
}

export interface ReadPush {
  readonly summary: PushSummary;
  encode(input: EncodeInput): EncodedPush;
  /** @param indexes positions of elements in the body, from 0. @returns the JSON of each of these elements. */
  elementTexts(indexes: readonly number[]): readonly string[];
}

/**
 * Parses and validates a body.
 * @param withHash true to compute `bodyHash`, for pushes with a label from the client (R-D7).
 * @throws {DomainError} malformed_json; invalid_input with the first 100 problems; body_too_large with the
 * exceeded limit (R-D1, R-D10).
 */
export function readPush(bytes: Uint8Array, limits: PushLimits, withHash: boolean): ReadPush {
  assertContainers(bytes, limits);
  const body = parseBody(decodeText(bytes), limits);
  const contents = parseContents(body, limits);
  const bodyHash = withHash ? createHash('sha256').update(bytes).digest() : undefined;
  return {
    summary: { targets: contents.targets, labelTable: contents.labelTable, bodyHash },
    encode: (input) => encodePush(contents, input),
    elementTexts: (indexes) => indexes.map((index) => JSON.stringify(body[index])),
  };
}

/** Matches NaN and Infinity. JSON does not allow them, but they are common in exports of data frames. */
const NON_FINITE = /-?\b(?:NaN|Infinity)\b/g;
/**
 * Maps the words NaN, Infinity and -Infinity to the numbers that replace them in the text of a body. JSON.parse reads
 * each of these numbers as Infinity or -Infinity. `parseNonFinite` recognizes the number that stands for NaN by its
 * source text `1e9999`, and turns it into NaN.
 */
const NON_FINITE_SOURCES: Readonly<Record<string, string>> = {
  NaN: '1e9999',
  Infinity: '1e999',
  '-Infinity': '-1e999',
};

/**
 * Parses a body. If NaN and Infinity are the only reason why the body is not JSON, and `parsePush` refuses these
 * values, the error names their paths.
 * @throws {DomainError} malformed_json, invalid_input, body_too_large (R-D1).
 */
function parseBody(text: string, limits: PushLimits): readonly unknown[] {
  try {
    return parseJson(text) as readonly unknown[];
  } catch (error) {
    const repaired = repairNonFinite(text);
    if (repaired !== text) parseContents(parseNonFinite(repaired, error), limits);
    throw error;
  }
}

/** Replaces NaN and Infinity outside of strings with numbers that JSON.parse can read. Takes linear time. */
function repairNonFinite(text: string): string {
  let quote = text.indexOf('"');
  let outside = 0;
  return text.replace(NON_FINITE, (found, index: number) => {
    while (quote >= 0 && quote < index) {
      outside = endOfString(text, quote);
      quote = text.indexOf('"', outside);
    }
    return index < outside ? found : (NON_FINITE_SOURCES[found] ?? found);
  });
}

/** Parses a text from `repairNonFinite`. @throws `fault` when the text is not JSON. */
function parseNonFinite(text: string, fault: unknown): unknown {
  try {
    return parseJsonText(text, (_name, value, { source } = {}) =>
      source === NON_FINITE_SOURCES.NaN ? Number.NaN : value,
    );
  } catch {
    throw fault;
  }
}

/**
 * Validates a parsed body.
 * @throws {DomainError} invalid_input, body_too_large.
 */
function parseContents(body: unknown, limits: PushLimits): PushContents {
  const parsed = parsePush(body, limits);
  switch (parsed.kind) {
    case 'ok':
      return parsed.contents;
    case 'invalid':
      throw invalidInput(parsed.details);
    case 'too_large':
      throw new DomainError('body_too_large', parsed.message);
  }
}

// A body may have this many more objects and arrays than the largest allowed push. Such a body is still parsed, so that
// `parsePush` can name the paths of the first 100 errors in it.
const ALLOWANCE = 200_000;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;

/**
 * Rejects a body with too many objects and arrays before JSON.parse creates them: 50 MiB of `{}` would take 1.1 GB and
 * 17 s, and running out of memory ends the process. Also counts brackets inside strings.
 */
function assertContainers(bytes: Uint8Array, { maxElements, maxReadings }: PushLimits): void {
  // A push without unknown members has at most 2 objects or arrays per reading (the reading and its `tags`) and 3 per
  // element (the element, its `data` and its `tags`), plus the array of all elements.
  const max = 2 * maxReadings + 3 * maxElements + ALLOWANCE;
  if (bytes.length <= max) return;
  let count = 0;
  // Loops by index, because a for…of loop over the bytes took 6 to 13 times as long (measured 2026-11-23).
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) count += 1;
  }
  if (count <= max) return;
  const message = `the body must have at most ${max} objects and arrays (every { and [ counts, even inside a string), got ${count}; a push may have at most ${maxReadings} readings and ${maxElements} elements: send several pushes`;
  throw new DomainError('body_too_large', message);
}
