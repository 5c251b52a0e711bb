/**
 * Encodes sets of variable ids as int4multirange, because PostgreSQL can test in linear time whether two multiranges
 * overlap (R-D6).
 */

/**
 * @param ids variable ids in any order; an id may be repeated.
 * @returns the int4multirange literal; consecutive ids form one range.
 */
export function variableSet(ids: Iterable<number>): string {
  const sorted = [...new Set(ids)].sort((a, b) => a - b);
  const ranges: string[] = [];
  for (let start = 0, end = 1; start < sorted.length; start = end, end += 1) {
    while (end < sorted.length && sorted[end] === (sorted[end - 1] as number) + 1) end += 1;
    ranges.push(`[${sorted[start]},${sorted[end - 1]}]`);
  }
  return `{${ranges.join()}}`;
}
