/**
 * Orders the rows of a chunk for the database, which appends ascending dates fastest. Keeps file order when the
 * dates of every variable strictly ascend. Otherwise sorts by variable and date, and keeps only the last row of each
 * variable, date and VersionTag (R-D5).
 */

/** Columns of equal length; only the first `size` rows are used. */
export interface RowColumns {
  readonly size: number;
  readonly variableIds: Int32Array;
  /** Dates in microseconds since 1970-01-01 UTC. */
  readonly dates: Float64Array;
  readonly versionTagIds: Int32Array;
}

/** @returns the indexes of the rows to write, in writing order. Undefined means all rows, in file order (R-D5). */
export function orderRows(columns: RowColumns): Uint32Array | undefined {
  return isAscending(columns) ? undefined : sortedRows(columns);
}

function isAscending({ size, variableIds, dates }: RowColumns): boolean {
  const lastDates = new Map<number, number>();
  let current = 0;
  let last = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < size; row += 1) {
    const variableId = variableIds[row] as number;
    if (variableId !== current) {
      lastDates.set(current, last);
      current = variableId;
      last = lastDates.get(variableId) ?? Number.NEGATIVE_INFINITY;
    }
    const date = dates[row] as number;
    if (date <= last) return false;
    last = date;
  }
  return true;
}

function sortedRows({ size, variableIds, dates, versionTagIds }: RowColumns): Uint32Array {
  const rows = Uint32Array.from({ length: size }, (_, row) => row);
  rows.sort(
    (a, b) =>
      (variableIds[a] as number) - (variableIds[b] as number) || (dates[a] as number) - (dates[b] as number) || a - b,
  );
  const lasts = new Map<number, number>();
  let count = 0;
  for (let start = 0; start < size; ) {
    const first = rows[start] as number;
    let end = start;
    lasts.clear();
    for (; end < size; end += 1) {
      const row = rows[end] as number;
      if (variableIds[row] !== variableIds[first] || dates[row] !== dates[first]) break;
      lasts.set(versionTagIds[row] as number, row);
    }
    // Compacts in place: `count` is at most `index`, so no unread element is overwritten.
    for (let index = start; index < end; index += 1) {
      const row = rows[index] as number;
      if (lasts.get(versionTagIds[row] as number) === row) rows[count++] = row;
    }
    start = end;
  }
  return rows.subarray(0, count);
}
