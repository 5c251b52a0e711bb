/**
 * Returns true for a GUID in the form 8-4-4-4-12, in upper or lower case. PostgreSQL rejects
 * other texts as uuid parameters.
 */
export function isGuid(text: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);
}
