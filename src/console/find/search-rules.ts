/** Converts the text that a person types in a search field to a customFilter expression (R-C10). Pure. */

/** Matches an operator of `customFilter`. A text without an operator consists of words to look for. */
const OPERATOR = /[=<>~]|\bstartswith\b|\blike\b/i;

/** For each kind of element, the fields in which a search looks for the words. */
const FIELDS = {
  sites: ['name', 'city'],
  sources: ['name', 'serialNumber', 'eanNumber', 'meterNumber', 'tags'],
  variables: ['name', 'mappingConfig', 'sourceName'],
} as const;

export type ElementKind = keyof typeof FIELDS;

/** Whether the text of a search contains an operator, and so counts as an expression of `customFilter`. */
export function isExpression(text: string): boolean {
  return OPERATOR.test(text);
}

/**
 * @returns the customFilter for the text of a search. An expression is returned unchanged. For any other text, each
 *   word must occur in at least one field.
 */
export function toFilter(text: string, kind: ElementKind): string {
  if (isExpression(text)) return text;
  const words = text.trim().split(/\s+/);
  return words
    .map((word) => `(${FIELDS[kind].map((field) => `${field} ~ ${quote(word)}`).join(' or ')})`)
    .join(' and ');
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "''")}'`;
}
