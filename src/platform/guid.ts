/**
 * Returns true for a GUID, that is 8-4-4-4-12 hexadecimal digits, in upper or lower case. Callers check a text before
 * they pass it as a uuid parameter, because PostgreSQL fails on a text that is not a GUID.
 */
export function isGuid(text: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);
}
