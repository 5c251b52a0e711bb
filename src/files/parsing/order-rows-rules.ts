/**
 * The order in which rows are encoded: as they come when the dates of every variable ascend; otherwise by variable and
 * date, of repeats of one variable, date and VersionTag the last (R-D5). The writer appends what is in order.
 */

/** Columns of one length, of which the first `size` places count. */
export interface RowColumns {
  readonly size: number;
  readonly variableIds: Int32Array;
  /** Microseconds since 1970-01-01 UTC. */
  readonly dates: Float64Array;
  readonly versionTagIds: Int32Array;
}

/** @returns the places to encode, in their order; undefined for all of them as they come. */
export function orderRows(columns: RowColumns): Uint32Array | undefined {
  return isAscending(columns) ? undefined : sortedPlaces(columns);
}

function isAscending({ size, variableIds, dates }: RowColumns): boolean {
  const lastDates = new Map<number, number>();
  let current = 0;
  let last = Number.NEGATIVE_INFINITY;
  for (let place = 0; place < size; place += 1) {
    const variableId = variableIds[place] as number;
    if (variableId !== current) {
      lastDates.set(current, last);
      current = variableId;
      last = lastDates.get(variableId) ?? Number.NEGATIVE_INFINITY;
    }
    const date = dates[place] as number;
    if (date <= last) return false;
    last = date;
  }
  return true;
}

function sortedPlaces({ size, variableIds, dates, versionTagIds }: RowColumns): Uint32Array {
  const places = Uint32Array.from({ length: size }, (_, place) => place);
  places.sort(
    (a, b) =>
      (variableIds[a] as number) - (variableIds[b] as number) || (dates[a] as number) - (dates[b] as number) || a - b,
  );
  const lasts = new Map<number, number>();
  let count = 0;
  for (let start = 0; start < size; ) {
    const first = places[start] as number;
    let end = start;
    lasts.clear();
    for (; end < size; end += 1) {
      const place = places[end] as number;
      if (variableIds[place] !== variableIds[first] || dates[place] !== dates[first]) break;
      lasts.set(versionTagIds[place] as number, place);
    }
    // What is kept moves forward into places that were looked at.
    for (let at = start; at < end; at += 1) {
      const place = places[at] as number;
      if (lasts.get(versionTagIds[place] as number) === place) places[count++] = place;
    }
    start = end;
  }
  return places.subarray(0, count);
}
