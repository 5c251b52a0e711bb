/**
 * Limits with the same meaning in several folders of src; a limit of one folder stays in it. The file imports nothing, so
 * that rule files and the processes that parse files may import it.
 */

/** Greatest int4 of PostgreSQL, and so the greatest id. */
export const MAX_INT4 = 2_147_483_647;

/** Maximum length of names and other texts of resources, and of identifiers that refer to them, in UTF-16 units. */
export const MAX_TEXT = 1000;

/** Maximum length of names of forms, catalogue entries and webhooks, in UTF-16 units. */
export const MAX_NAME = 200;

/** Maximum versions that are kept of a point (§9.1). `sql/migrations` checks the same range. */
export const MAX_VERSION_LIMIT = 1000;

/** Maximum characters of a wrong value that an error message shows. */
export const MAX_SHOWN = 60;

/**
 * Maximum time of a statement of a request that deletes years of points, in milliseconds. The HTTP server closes a
 * connection that is silent for longer.
 */
export const MAX_STATEMENT_MS = 280_000;
