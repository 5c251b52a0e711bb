/**
 * A process that maps bodies of custom formats to push elements (R-D9). Expressions are written by customers: it may read
 * no file but its own program, start nothing, and knows no secret; whoever started it ends it when it takes too long, and
 * it dies alone when it takes too much memory.
 */
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import jsonata from 'jsonata';
import { parseCsv, toRecords } from './parse-csv-rules.ts';

export type BodyFormat = 'json' | 'xml' | 'csv';

export interface MapRequest {
  readonly id: number;
  readonly expression: string;
  /** undefined: the expression is only checked. */
  readonly body?: { readonly format: BodyFormat; readonly hasHeader: boolean; readonly bytes: Uint8Array };
}

export type MapReply =
  | { readonly id: number; readonly kind: 'mapped'; readonly json: string }
  | { readonly id: number; readonly kind: 'checked' }
  | { readonly id: number; readonly kind: 'failed'; readonly message: string; readonly position?: number };

// The process is ended anyway when it is over its time; these give an author a better word before.
const GUARDS = { timeout: 60_000, stack: 1000, sequence: 2_000_000 };

const parser = new XMLParser({
  ...{ ignoreAttributes: false, attributeNamePrefix: '@', textNodeName: '#text', htmlEntities: true },
  // What looks like a number may be a serial number: texts stay as they are.
  ...{ parseTagValue: false, parseAttributeValue: false },
});

process.on('message', (request: MapRequest) => {
  answer(request)
    .catch((error: unknown): MapReply => failure(request.id, error))
    .then((reply) => process.send?.(reply));
});
process.on('disconnect', () => process.exit(0));

async function answer({ id, expression, body }: MapRequest): Promise<MapReply> {
  const compiled = jsonata(expression, GUARDS);
  if (!body) return { id, kind: 'checked' };
  const input = parseBody(new TextDecoder('utf-8', { fatal: true }).decode(body.bytes), body.format, body.hasHeader);
  const result: unknown = await compiled.evaluate(input);
  // JSONata makes one element of a list of one, and nothing of an empty list.
  const elements = result === undefined ? [] : Array.isArray(result) ? result : [result];
  return { id, kind: 'mapped', json: JSON.stringify(elements) };
}

function parseBody(text: string, format: BodyFormat, hasHeader: boolean): unknown {
  switch (format) {
    case 'json':
      return JSON.parse(text);
    case 'csv': {
      const rows = parseCsv(text);
      if (!rows) throw new Error('the body is not CSV: a quote is not closed');
      return hasHeader ? toRecords(rows) : rows;
    }
    case 'xml': {
      if (/<!DOCTYPE/i.test(text)) throw new Error('the body must not have a DOCTYPE');
      const verdict = XMLValidator.validate(text);
      if (verdict === true) return parser.parse(text);
      throw new Error(`the body is not XML: ${verdict.err.msg} (line ${verdict.err.line}, column ${verdict.err.col})`);
    }
  }
}

function failure(id: number, error: unknown): MapReply {
  const { message = String(error), position } = (error ?? {}) as { message?: string; position?: number };
  return { id, kind: 'failed', message: message.slice(0, 1000), ...(position !== undefined && { position }) };
}
