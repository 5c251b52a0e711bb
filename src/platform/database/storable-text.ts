/** PostgreSQL text and jsonb hold any Unicode text but U+0000 and unpaired surrogates; JSON can spell both. */

/** What to tell about a text that is not storable. */
export const STORABLE_RULE = 'must not contain U+0000 or an unpaired surrogate';

export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Whether every key and text inside a JSON value is storable. */
export function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, member]) => isStorableText(key) && isStorableJson(member));
}

/** The text with U+FFFD in place of what cannot be stored. */
export function toStorableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
