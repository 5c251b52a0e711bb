/** The cells of a row, as offsets into a buffer. */

/**
 * Cells by column. The bytes of a cell are those in `bytes` from `starts[column]`, inclusive, to `ends[column]`,
 * exclusive; an absent cell has no bytes. The object is valid until the scanner reads the next row.
 */
export interface RowCells {
  readonly bytes: Buffer;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Kind of each cell, by column (`KIND` in `xlsx/sheet-cells.ts`); only for a workbook. */
  readonly kinds?: readonly number[];
}

/** Returns a cell as latin1 text (see `utf8.ts`); '' for an absent cell. */
export function cellText({ bytes, starts, ends }: RowCells, column: number | undefined): string {
  if (column === undefined) return '';
  const [start = 0, end = 0] = [starts[column], ends[column]];
  return start === end ? '' : bytes.toString('latin1', start, end);
}
