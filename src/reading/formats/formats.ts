/** The formats in which rows are sent (R-G4). The parameter `format` or the header `Accept` chooses one (R-A13). */
import { XLSX_TYPE } from '../../platform/http/workbook-writer.ts';
import { writeArrow } from './arrow-table.ts';
import { chooseType } from './choose-type.ts';
import { writeCsv } from './csv-table.ts';
import { writeJsonColumns } from './json-columns.ts';
import { writeJson } from './json-table.ts';
import { writeParquet } from './parquet-table.ts';
import type { Table } from './table.ts';
import { writeXlsx } from './xlsx-table.ts';

export interface Format {
  readonly contentType: string;
  /**
   * Yields the bytes of a table. Reads the table only between the first request for bytes and the end of the iteration.
   */
  readonly write: (table: Table) => AsyncGenerator<Uint8Array>;
}

const JSON_TYPE = 'application/json';
/**
 * Media type of JSON by columns (`displayLevel=Columns`) in the API description. The media type of JSON by rows
 * is different, so that generated clients have one type for rows and another for columns.
 */
export const COLUMNS_TYPE = `${JSON_TYPE}; profile=columns`;
export const CSV_TYPE = 'text/csv';
const COLUMNS = { contentType: `${JSON_TYPE}; charset=utf-8; profile=columns`, write: writeJsonColumns };
export const ARROW_TYPE = 'application/vnd.apache.arrow.stream';
export const PARQUET_TYPE = 'application/vnd.apache.parquet';

const FORMATS = {
  [JSON_TYPE]: { contentType: `${JSON_TYPE}; charset=utf-8`, write: writeJson },
  [CSV_TYPE]: { contentType: `${CSV_TYPE}; charset=utf-8; header=present`, write: writeCsv },
  [ARROW_TYPE]: { contentType: ARROW_TYPE, write: writeArrow },
  [XLSX_TYPE]: { contentType: XLSX_TYPE, write: writeXlsx },
  [PARQUET_TYPE]: { contentType: PARQUET_TYPE, write: writeParquet },
} as const satisfies Record<string, Format>;

const TYPES = {
  json: JSON_TYPE,
  csv: CSV_TYPE,
  arrow: ARROW_TYPE,
  xlsx: XLSX_TYPE,
  parquet: PARQUET_TYPE,
} as const;

/**
 * Values of the parameter `format`. The parameter overrides the header `Accept`, because links and spreadsheets cannot
 * set this header.
 */
export type FormatName = keyof typeof TYPES;

/**
 * Chooses the named format. Without a name, chooses the format that the header `Accept` prefers, or JSON when the
 * header accepts none of the formats (R-A13, R-G4).
 * @param isByColumns true to write JSON by columns; it has no effect on the other formats.
 */
export function chooseFormat(name: FormatName | undefined, accept: string | undefined, isByColumns = false): Format {
  const type = name ? TYPES[name] : chooseType(accept, [JSON_TYPE, CSV_TYPE, ARROW_TYPE, XLSX_TYPE, PARQUET_TYPE]);
  return isByColumns && type === JSON_TYPE ? COLUMNS : FORMATS[type];
}
