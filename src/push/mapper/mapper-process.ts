/**
 * Child process that maps bodies in custom formats to push elements (R-D9). Customers write the mapping expressions, so
 * the process can read only its own program and packages, cannot start programs, and has no secrets. The parent kills
 * the process on a time-out; running out of memory ends only this process.
 */
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import jsonata from 'jsonata';
import { parseCsv, toRecords } from './csv-parser.ts';

export type BodyFormat = 'json' | 'xml' | 'csv';

export interface MapRequest {
  readonly id: number;
  readonly expression: string;
  /** The body to map; undefined to check only the expression. */
  readonly body?: { readonly format: BodyFormat; readonly hasHeader: boolean; readonly bytes: Uint8Array };
  /** Maximum bytes of the answer as JSON. A longer answer is not sent to the parent. */
  readonly maxBytes: number;
}

export type MapReply =
  /** `json` is UTF-8. */
  | { readonly id: number; readonly kind: 'mapped'; readonly json: Uint8Array<ArrayBuffer> }
  | { readonly id: number; readonly kind: 'too_large'; readonly bytes: number }
  | { readonly id: number; readonly kind: 'checked' }
  | { readonly id: number; readonly kind: 'failed'; readonly message: string; readonly position?: number };

// Limits that JSONata enforces: its error messages tell the author of the mapper more than a killed process would.
const GUARDS = { timeout: 60_000, stack: 1000, sequence: 2_000_000 };

const parser = new XMLParser({
  ...{ ignoreAttributes: false, attributeNamePrefix: '@', textNodeName: '#text', htmlEntities: true },
  // Leaves numbers as texts, because digits may be a serial number with leading zeros.
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
  const input = parseBody(new TextDecoder('utf-8', { fatal: true }).decode(body.bytes), body.format, body.hasHeader);
  const result: unknown = await compiled.evaluate(input);
  // JSONata returns the element itself for a list of one element, and undefined for an empty list.
  const elements = result === undefined ? [] : Array.isArray(result) ? result : [result];
  const json = JSON.stringify(elements);
  const bytes = Buffer.byteLength(json);
  return bytes > maxBytes ? { id, kind: 'too_large', bytes } : { id, kind: 'mapped', json: Buffer.from(json) };
}

function parseBody(text: string, format: BodyFormat, hasHeader: boolean): unknown {
  switch (format) {
    case 'json':
      return JSON.parse(text);
    case 'csv': {
      const rows = parseCsv(text);
      if (!rows) throw new Error('the body must be CSV, got a quote that is not closed');
      return hasHeader ? toRecords(rows) : rows;
    }
    case 'xml': {
      if (/<!DOCTYPE/i.test(text)) throw new Error('the body must not have a DOCTYPE');
      const verdict = XMLValidator.validate(text);
      if (verdict === true) return parser.parse(text);
      throw new Error(`the body must be XML: ${verdict.err.msg} (line ${verdict.err.line}, column ${verdict.err.col})`);
    }
  }
}

function failure(id: number, error: unknown): MapReply {
  const { message = String(error), position } = (error ?? {}) as { message?: string; position?: number };
  return { id, kind: 'failed', message: message.slice(0, 1000), ...(position !== undefined && { position }) };
}
