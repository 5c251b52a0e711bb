/**
 * Limits that several folders of src share. A limit that only one folder uses is declared in that folder. This file
 * imports nothing, so that rule files (`*-rules.ts`) and the processes that parse uploaded files may import it.
 */

/** Greatest int4 of PostgreSQL, and so the greatest id of an account, site, source or variable. */
export const MAX_INT4 = 2_147_483_647;

/** Maximum length, in UTF-16 units, of each name, identifier or other text of a resource. */
export const MAX_TEXT = 1000;

/** Maximum length, in UTF-16 units, of the name of a webhook, catalogue entry, form, form group or form field. */
export const MAX_NAME = 200;

/** Maximum version limit of an account or variable (R-C1). Check constraints of the database enforce it too. */
export const MAX_VERSION_LIMIT = 1000;

/** Errors about bodies and files show at most this many characters of a wrong value. */
export const MAX_SHOWN = 60;

/**
 * Time limit, in milliseconds, for a statement that deletes points or versions during a request. Must be below the time
 * after which the HTTP server closes an idle connection.
 */
export const MAX_STATEMENT_MS = 280_000;

const [MEBIBYTE, GIBIBYTE] = [2 ** 20, 2 ** 30];

/** @returns a number of bytes as text for a message, such as `209715200 bytes (200 MiB)`. */
export function showBytes(bytes: number): string {
  if (bytes < MEBIBYTE) return `${bytes} bytes`;
  const rounded = bytes < GIBIBYTE ? `${toTenth(bytes / MEBIBYTE)} MiB` : `${toTenth(bytes / GIBIBYTE)} GiB`;
  return `${bytes} bytes (${rounded})`;
}

function toTenth(value: number): number {
  return Math.round(10 * value) / 10;
}
