/**
 * A push from its bytes to its tuples, in two steps: between them the caller finds out what its identifiers and labels
 * mean. Runs where it is called: small ones on the event loop, large ones in a worker (push-readers.ts).
 */
import { createHash } from 'node:crypto';
import { DomainError } from '../../platform/errors.ts';
import { decodeText, parseJson } from '../../platform/http/http-body.ts';
import { invalidInput } from '../../platform/http/lenient.ts';
import type { Labels } from '../../points/label-rules.ts';
import { type EncodedPush, type EncodeInput, encodePush } from './encode-push.ts';
import { parsePush } from './parse-push-rules.ts';
import type { PushContents, PushLimits, TargetIdentifiers } from './push-element.ts';
import { scanPush } from './scan-push-rules.ts';

/** What of a push is asked about elsewhere. */
export interface PushSummary {
  readonly targets: readonly TargetIdentifiers[];
  readonly labelTable: readonly Labels[];
  /** SHA-256 of the body, where it was asked for. */
  readonly bodyHash: Buffer | undefined;
}

export interface ReadPush {
  readonly summary: PushSummary;
  encode(input: EncodeInput): EncodedPush;
  /** Elements as JSON, by their places in the body. */
  elementTexts(places: readonly number[]): readonly string[];
}

/**
 * @param withHash whether the body may be sent again under the same label.
 * @throws DomainError malformed_json, invalid_input naming every place, body_too_large naming the limit (R-D1, R-D10).
 */
export function readPush(bytes: Uint8Array, limits: PushLimits, withHash: boolean): ReadPush {
  const { contents, elementText } = readContents(bytes, limits);
  const bodyHash = withHash ? createHash('sha256').update(bytes).digest() : undefined;
  return {
    summary: { targets: contents.targets, labelTable: contents.labelTable, bodyHash },
    encode: (input) => encodePush(contents, input),
    elementTexts: (places) => places.map(elementText),
  };
}

interface BodyContents {
  readonly contents: PushContents;
  readonly elementText: (place: number) => string;
}

// Below it, looking for the readings costs more than it saves.
const MIN_SCANNED_BYTES = 2048;

function readContents(bytes: Uint8Array, limits: PushLimits): BodyContents {
  const scanned = bytes.length < MIN_SCANNED_BYTES ? undefined : scanPush(bytes, limits);
  if (!scanned) return readWhole(bytes, limits);
  const { contents, elementPlaces } = scanned;
  const elementText = (place: number): string => {
    return JSON.stringify(parseJson(decodeText(bytes.subarray(...(elementPlaces[place] ?? [0, 0])))));
  };
  return { contents, elementText };
}

/** Names every place that is wrong. */
function readWhole(bytes: Uint8Array, limits: PushLimits): BodyContents {
  assertContainers(bytes, limits);
  const body = parseJson(decodeText(bytes)) as readonly unknown[];
  const parsed = parsePush(body, limits);
  switch (parsed.kind) {
    case 'ok':
      return { contents: parsed.contents, elementText: (place) => JSON.stringify(body[place]) };
    case 'invalid':
      throw invalidInput(parsed.details);
    case 'too_large':
      throw new DomainError('body_too_large', parsed.message);
  }
}

// What is wrong with a smaller body is found by reading it.
const ALLOWANCE = 200_000;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;

/**
 * Refuses a body of more objects and arrays than a push of the largest size has, before they are made: 50 MiB of `{}` would
 * take 1.1 GB of memory and 17 s, and running out of memory cannot be survived. Brackets inside texts count as well.
 */
function assertContainers(bytes: Uint8Array, { maxElements, maxReadings }: PushLimits): void {
  // Reading and tags; element, its readings and tags; the body.
  const max = 2 * maxReadings + 3 * maxElements + ALLOWANCE;
  if (bytes.length <= max) return;
  let count = 0;
  // An iterator takes seven times as long.
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) count += 1;
  }
  if (count <= max) return;
  const message = `a push may have at most ${maxReadings} readings and ${maxElements} elements, got ${count} objects and arrays`;
  throw new DomainError('body_too_large', message);
}
