/** Whether a text is a GUID as the database reads one, in either case: what is none names nothing. */
export function isGuid(text: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);
}
