/**
 * Child process that maps bodies in custom formats to push elements (R-D9). Customers write the mapping expressions, so
 * the process can read only its own program and packages, cannot start programs, and has no secrets. The parent kills
 * the process on a time-out; running out of memory ends only this process.
 */

import { isUtf8 } from 'node:buffer';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import jsonata from 'jsonata';
import { parseJsonText } from '../../platform/json/json-text.ts';
import { BodyError, placeOf } from './body-error.ts';
import { parseCsv, toRecords } from './csv-parser.ts';

export type BodyFormat = 'json' | 'xml' | 'csv';

export interface MapBody {
  readonly format: BodyFormat;
  readonly hasHeader: boolean;
  readonly bytes: Uint8Array;
}

export interface MapRequest {
  readonly id: number;
  readonly expression: string;
  /** The body to map; undefined to check only the expression. */
  readonly body?: MapBody;
  /** Maximum bytes of the answer as JSON. A longer answer is not sent to the parent. */
  readonly maxBytes: number;
}

export type MapReply =
  /** `json` is UTF-8. */
  | { readonly id: number; readonly kind: 'mapped'; readonly json: Uint8Array<ArrayBuffer> }
  | { readonly id: number; readonly kind: 'too_large'; readonly bytes: number }
  | { readonly id: number; readonly kind: 'checked' }
  /** The body is not in its format. */
  | { readonly id: number; readonly kind: 'invalid_body'; readonly message: string }
  /** `position` is the position of the error in the expression. */
  | { readonly id: number; readonly kind: 'failed'; readonly message: string; readonly position?: number };

const MAX_MESSAGE_CHARACTERS = 1000;
const LINE_FEED = 0x0a;
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

// JSONata itself enforces `stack` and `sequence`, because the error messages of JSONata tell the author of the mapper
// more than a killed process would. The parent kills the process before `timeout` has passed.
const GUARDS = { timeout: 60_000, stack: 1000, sequence: 2_000_000 };

const parser = new XMLParser({
  ...{ ignoreAttributes: false, attributeNamePrefix: '@', textNodeName: '#text', htmlEntities: true },
  // Numbers are kept as text: the digits may be a serial number, and a conversion would remove its leading zeros.
  ...{ parseTagValue: false, parseAttributeValue: false },
});

process.on('message', (request: MapRequest) => {
  answer(request)
    .catch((error: unknown): MapReply => failure(request.id, error))
    .then((reply) => process.send?.(reply));
});
process.on('disconnect', () => process.exit(0));

async function answer({ id, expression, body, maxBytes }: MapRequest): Promise<MapReply> {
  const compiled = jsonata(expression, GUARDS);
  if (!body) return { id, kind: 'checked' };
  const result: unknown = await compiled.evaluate(parseBody(body));
  // JSONata returns the element itself for a sequence of one element, and undefined for an empty sequence.
  const elements = result === undefined ? [] : Array.isArray(result) ? result : [result];
  const json = JSON.stringify(elements);
  const bytes = Buffer.byteLength(json);
  return bytes > maxBytes ? { id, kind: 'too_large', bytes } : { id, kind: 'mapped', json: Buffer.from(json) };
}

/** @throws {BodyError} when the body is not UTF-8, is not valid in `format`, or is XML with a DOCTYPE. */
function parseBody({ format, hasHeader, bytes }: MapBody): unknown {
  const text = decode(bytes);
  switch (format) {
    case 'json':
      return parseJson(text);
    case 'csv': {
      const rows = parseCsv(text);
      return hasHeader ? toRecords(rows) : rows;
    }
    case 'xml':
      return parseXml(text);
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return UTF_8.decode(bytes);
  } catch (error) {
    throw error instanceof TypeError
      ? new BodyError(`the body must be UTF-8; see line ${findBadLine(bytes)} of the body`)
      : error;
  }
}

/** @returns the number of the first line with bytes that are not UTF-8. */
function findBadLine(bytes: Uint8Array): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line += 1) {
    const end = bytes.indexOf(LINE_FEED, start) + 1 || bytes.length;
    if (!isUtf8(bytes.subarray(start, end))) break;
    start = end;
  }
  return line;
}

function parseJson(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (error) {
    throw error instanceof SyntaxError ? new BodyError(`the body is not JSON: ${error.message}`) : error;
  }
}

function parseXml(text: string): unknown {
  const doctype = text.search(/<!DOCTYPE/i);
  if (doctype >= 0) throw new BodyError(`the body must not have a DOCTYPE (${placeOf(text, doctype)})`);
  const verdict = XMLValidator.validate(text);
  if (verdict === true) return parser.parse(text);
  const { msg, line, col } = verdict.err;
  throw new BodyError(`the body must be XML: ${msg} (line ${line}, column ${col ?? 1})`);
}

function failure(id: number, error: unknown): MapReply {
  const { message: text = String(error), position } = (error ?? {}) as { message?: string; position?: number };
  const message = text.slice(0, MAX_MESSAGE_CHARACTERS);
  if (error instanceof BodyError) return { id, kind: 'invalid_body', message };
  return { id, kind: 'failed', message, ...(position !== undefined && { position }) };
}
