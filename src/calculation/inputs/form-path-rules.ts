/**
 * The path to a value in `clientData` (R-H1): words joined by dots. A word that contains a dot, a quote, a parenthesis
 * or a brace, or that begins with a blank or one of `=<>~!`, is written in single quotes; a single quote inside it is
 * doubled. Quoted words are written as in a customFilter (R-C10). A bare word may contain blanks; in a customFilter, it
 * may not. Blanks at the end of a bare word are dropped. A leading `clientData` is ignored when a word follows it.
 */

/** Rule for paths into forms, as error messages state it. */
export const FORM_PATH_RULE =
  "must be words joined by dots, such as Form.Group.'Field (kWh)'; put a word in single quotes if it contains a dot, quote, parenthesis or brace, or begins with a space or one of = < > ~ !; double a single quote inside it";

const WORD = /(?:'((?:[^']|'')+)'|([^\s().{}=<>~!'"][^.'"(){}]*))(\.|$)/y;
const ROOT = 'clientdata';

/** @returns the keys, outermost first; undefined when the text is not a path (R-H1). */
export function parseFormPath(text: string): readonly string[] | undefined {
  const keys: string[] = [];
  const trimmed = text.trim();
  WORD.lastIndex = 0;
  let isOpen = true;
  while (isOpen) {
    const match = WORD.exec(trimmed);
    if (!match) return undefined;
    const [, quoted, bare = '', dot] = match;
    keys.push(quoted === undefined ? bare.trimEnd() : quoted.replaceAll("''", "'"));
    isOpen = dot === '.';
  }
  return keys.length > 1 && keys[0]?.toLowerCase() === ROOT ? keys.slice(1) : keys;
}
