/** Arrays as PostgreSQL writes them, for parameters. The driver's own way looks at every value several times. */

const QUOTED = /["\\]/g;

export function textArray(texts: readonly (string | null)[]): string {
  return `{${texts.map((text) => (text === null ? 'null' : `"${text.replace(QUOTED, '\\$&')}"`)).join()}}`;
}

/** Numbers, booleans, and absent values. */
export function plainArray(values: readonly (number | boolean | null)[]): string {
  return `{${values.map((value) => (value === null ? 'null' : String(value))).join()}}`;
}

/** An empty array where no value is given at all: `unnest` fills up with nulls. */
export function sparseTextArray(texts: readonly (string | null)[]): string {
  return texts.some((text) => text !== null) ? textArray(texts) : '{}';
}
