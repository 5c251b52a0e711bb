/** PostgreSQL text and jsonb store any text except U+0000 and unpaired surrogates; JSON input may contain both. */

/** Rule for storable texts, as error messages state it. */
export const STORABLE_RULE = 'must not contain U+0000 or an unpaired surrogate';

/** @returns true when PostgreSQL can store the text. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** @returns true when a JSON value contains only keys and texts that PostgreSQL can store. */
export function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, member]) => isStorableText(key) && isStorableJson(member));
}

/** Replaces each U+0000 and unpaired surrogate with U+FFFD. */
export function toStorableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
