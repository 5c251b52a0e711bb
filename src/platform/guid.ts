/**
 * Returns true for a GUID in the form 8-4-4-4-12, in upper or lower case. Check a text before it becomes a uuid
 * parameter, because PostgreSQL fails on text that is not a GUID.
 */
export function isGuid(text: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);
}
