/** A row as it was read, before anything is made of it. */

/** The cells of a row by column: the bytes from `starts` to `ends`, none where a cell is absent. Good for one row. */
export interface RowCells {
  readonly bytes: Buffer;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** What each cell is, where the same bytes may mean different things (see `sheet-cells.ts`). */
  readonly kinds?: readonly number[];
}

/** A cell as latin1 text (see `utf8.ts`). */
export function cellText({ bytes, starts, ends }: RowCells, column: number | undefined): string {
  if (column === undefined) return '';
  const [start = 0, end = 0] = [starts[column], ends[column]];
  return start === end ? '' : bytes.toString('latin1', start, end);
}
