/** Encodes arrays as PostgreSQL array literals. `plainArray` is faster than the driver, which quotes every number. */

const QUOTED = /["\\]/g;

/** @returns a PostgreSQL array literal of quoted texts; null becomes NULL. */
export function textArray(texts: readonly (string | null)[]): string {
  return `{${texts.map((text) => (text === null ? 'null' : `"${text.replace(QUOTED, '\\$&')}"`)).join()}}`;
}

/** @returns a PostgreSQL array literal of numbers, booleans and nulls. */
export function plainArray(values: readonly (number | boolean | null)[]): string {
  return `{${values.map((value) => (value === null ? 'null' : String(value))).join()}}`;
}

/**
 * Encodes texts as `textArray` does, but returns an empty array when all texts are null. `unnest` of several arrays
 * adds the nulls again, because it pads the shorter arrays.
 */
export function sparseTextArray(texts: readonly (string | null)[]): string {
  return texts.some((text) => text !== null) ? textArray(texts) : '{}';
}
