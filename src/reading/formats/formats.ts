/** The formats of rows (R-G4), chosen by the header `Accept`. */
import { XLSX_TYPE } from '../../platform/http/workbook-writer.ts';
import { writeArrow } from './arrow-table.ts';
import { chooseType } from './choose-type.ts';
import { writeCsv } from './csv-table.ts';
import { writeJson } from './json-table.ts';
import type { Table } from './table.ts';
import { writeXlsx } from './xlsx-table.ts';

export interface Format {
  readonly contentType: string;
  /** Reads lazily: nothing before the first piece is asked for, nothing after the iteration ends. */
  readonly write: (table: Table) => AsyncGenerator<Uint8Array>;
}

const JSON_TYPE = 'application/json';
export const CSV_TYPE = 'text/csv';
export const ARROW_TYPE = 'application/vnd.apache.arrow.stream';

const FORMATS = {
  [JSON_TYPE]: { contentType: `${JSON_TYPE}; charset=utf-8`, write: writeJson },
  [CSV_TYPE]: { contentType: `${CSV_TYPE}; charset=utf-8; header=present`, write: writeCsv },
  [ARROW_TYPE]: { contentType: ARROW_TYPE, write: writeArrow },
  [XLSX_TYPE]: { contentType: XLSX_TYPE, write: writeXlsx },
} as const satisfies Record<string, Format>;

/** The format the client's `Accept` prefers; JSON when it accepts none of them (R-G4). */
export function chooseFormat(accept: string | undefined): Format {
  return FORMATS[chooseType(accept, [JSON_TYPE, CSV_TYPE, ARROW_TYPE, XLSX_TYPE])];
}
