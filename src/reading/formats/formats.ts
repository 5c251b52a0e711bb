/** The formats rows can be had in (R-G4), chosen by the header `Accept`. */
import { chooseType } from './accept-rules.ts';
import { writeArrow } from './arrow-table.ts';
import { writeCsv } from './csv-table.ts';
import { writeJson } from './json-table.ts';
import type { Table } from './table.ts';

export interface Format {
  readonly contentType: string;
  /** Nothing is read before the first piece is asked for, nothing after the last is taken or the iteration ended. */
  readonly write: (table: Table) => AsyncGenerator<Uint8Array>;
}

const JSON_TYPE = 'application/json';
export const CSV_TYPE = 'text/csv';
export const ARROW_TYPE = 'application/vnd.apache.arrow.stream';

const FORMATS = {
  [JSON_TYPE]: { contentType: `${JSON_TYPE}; charset=utf-8`, write: writeJson },
  [CSV_TYPE]: { contentType: `${CSV_TYPE}; charset=utf-8; header=present`, write: writeCsv },
  [ARROW_TYPE]: { contentType: ARROW_TYPE, write: writeArrow },
} as const satisfies Record<string, Format>;

/** JSON, unless the client would rather have another. */
export function chooseFormat(accept: string | undefined): Format {
  return FORMATS[chooseType(accept, [JSON_TYPE, CSV_TYPE, ARROW_TYPE])];
}
