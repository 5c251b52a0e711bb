/**
 * Parses a customFilter (R-C10): comparisons of a field, or of a path into clientData, with a value; AND, OR and
 * parentheses; and `Site{…}` in a filter of sources. Keywords are case-insensitive. `custom-filter.ts` compiles the
 * result to SQL.
 *
 *   filter     = conjunction { OR conjunction }
 *   conjunction = term { AND term }
 *   term       = "(" filter ")" | Site "{" filter "}" | path operator value
 *   path       = word { "." word }, a word being bare or in single quotes ('' is a quote)
 *   value      = number | word
 */

export type FilterOperator = '=' | '<>' | '>' | '>=' | '<' | '<=' | '~' | '!~' | 'startswith' | '!startswith';

/** A token or a syntax node of a filter, with its position in the filter's text (from 1) for error messages. */
export interface Positioned {
  readonly position: number;
}

export interface Comparison extends Positioned {
  readonly kind: 'comparison';
  readonly path: readonly string[];
  readonly operator: FilterOperator;
  readonly value: FilterValue;
}

export interface FilterValue extends Positioned {
  readonly text: string;
  /** True when the value was in quotes; in clientData, a quoted value is compared as text. */
  readonly isQuoted: boolean;
}

export type FilterNode =
  | Comparison
  | { readonly kind: 'and' | 'or'; readonly nodes: readonly FilterNode[] }
  | ({ readonly kind: 'site'; readonly node: FilterNode } & Positioned);

export type ParsedFilter =
  | { readonly kind: 'ok'; readonly node: FilterNode }
  | { readonly kind: 'invalid'; readonly position: number; readonly message: string };

interface Token extends Positioned {
  readonly kind: 'word' | 'quoted' | 'operator' | 'mark' | 'end';
  readonly text: string;
}

// These limits bound the cost of one filter: its tokens, its recursion, and the expressions that the database evaluates
// for each row.
const MAX_CHARACTERS = 10_000;
const MAX_DEPTH = 50;
const MAX_COMPARISONS = 200;
const OPERATORS: Readonly<Record<string, FilterOperator>> = {
  ...{ '=': '=', '<>': '<>', '!=': '<>', '>': '>', '>=': '>=', '<': '<', '<=': '<=', '~': '~', '!~': '!~' },
  ...{ like: '~', startswith: 'startswith', '!startswith': '!startswith' },
};
const TOKEN = /\s*(?:(!startswith\b|<>|!=|>=|<=|!~|[=<>~])|([().{}])|'((?:[^']|'')*)'|([^\s().{}=<>~!']+))/iy;

class FilterSyntaxError extends Error {
  readonly position: number;

  constructor(position: number, message: string) {
    super(message);
    this.position = position;
  }
}

/**
 * Parses a filter (R-C10).
 * @returns the syntax tree, or the first syntax error with its position.
 * @throws {Error} only when the parser has a bug.
 */
export function parseFilter(text: string): ParsedFilter {
  try {
    if (text.length > MAX_CHARACTERS) {
      throw new FilterSyntaxError(1, `must have at most ${MAX_CHARACTERS} characters, got ${text.length}`);
    }
    const reader = new TokenReader(tokenize(text));
    const node = readFilter(reader, 0);
    reader.expect('end', '');
    return { kind: 'ok', node };
  } catch (error) {
    if (!(error instanceof FilterSyntaxError)) throw error;
    return { kind: 'invalid', position: error.position, message: error.message };
  }
}

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  const end = text.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) {
      const rest = text.slice(start);
      const fault = rest.trimStart();
      throw new FilterSyntaxError(
        start + 1 + rest.length - fault.length,
        // TOKEN matches every other character.
        fault.startsWith("'")
          ? "the quote that begins here is not closed; write a quote within a value as ''"
          : '"!" must be followed by "=", "~" or "startswith"',
      );
    }
    tokens.push(toToken(match, start));
  }
  return [...tokens, { kind: 'end', text: '', position: end + 1 }];
}

function toToken([whole, operator, mark, quoted, word]: RegExpExecArray, start: number): Token {
  const position = start + 1 + whole.length - whole.trimStart().length;
  if (operator !== undefined) return { kind: 'operator', text: operator.toLowerCase(), position };
  if (mark !== undefined) return { kind: 'mark', text: mark, position };
  if (quoted !== undefined) return { kind: 'quoted', text: quoted.replaceAll("''", "'"), position };
  return { kind: 'word', text: word ?? '', position };
}

class TokenReader {
  readonly #tokens: readonly Token[];
  #index = 0;
  #comparisons = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** Counts the comparison that begins at `position`. @throws {FilterSyntaxError} beyond the limit of comparisons. */
  count(position: number): void {
    this.#comparisons += 1;
    if (this.#comparisons <= MAX_COMPARISONS) return;
    throw new FilterSyntaxError(position, `must have at most ${MAX_COMPARISONS} comparisons`);
  }

  peek(): Token {
    return this.#tokens[this.#index] ?? { kind: 'end', text: '', position: 0 };
  }

  next(): Token {
    const token = this.peek();
    this.#index += 1;
    return token;
  }

  /** Consumes the next token if it is the given mark, such as `(`. @returns true when the token was consumed. */
  takes(mark: string): boolean {
    const { kind, text } = this.peek();
    if (kind !== 'mark' || text !== mark) return false;
    this.#index += 1;
    return true;
  }

  /**
   * Consumes the next token if it is the given keyword, in any letter case. @returns true when the token was consumed.
   */
  takesWord(word: string): boolean {
    const { kind, text } = this.peek();
    if (kind !== 'word' || text.toLowerCase() !== word) return false;
    this.#index += 1;
    return true;
  }

  expect(kind: Token['kind'], text: string): void {
    const token = this.next();
    if (token.kind === kind && token.text === text) return;
    const expected = text === '' ? 'AND, OR or the end of the filter' : text;
    throw new FilterSyntaxError(token.position, `expected ${expected}, got ${show(token)}`);
  }
}

function readFilter(reader: TokenReader, depth: number): FilterNode {
  if (depth > MAX_DEPTH)
    throw new FilterSyntaxError(reader.peek().position, `must be nested at most ${MAX_DEPTH} levels deep`);
  return readJoined(reader, 'or', () => readJoined(reader, 'and', () => readTerm(reader, depth)));
}

function readJoined(reader: TokenReader, kind: 'and' | 'or', readPart: () => FilterNode): FilterNode {
  const first = readPart();
  const nodes = [first];
  while (reader.takesWord(kind)) nodes.push(readPart());
  return nodes.length === 1 ? first : { kind, nodes };
}

function readTerm(reader: TokenReader, depth: number): FilterNode {
  if (reader.takes('(')) {
    const node = readFilter(reader, depth + 1);
    reader.expect('mark', ')');
    return node;
  }
  const { position } = reader.peek();
  const path = readPath(reader);
  if (path.length === 1 && path[0]?.toLowerCase() === 'site' && reader.takes('{')) {
    const node = readFilter(reader, depth + 1);
    reader.expect('mark', '}');
    return { kind: 'site', node, position };
  }
  reader.count(position);
  const operator = readOperator(reader);
  return { kind: 'comparison', path, operator, value: readValue(reader), position };
}

function readPath(reader: TokenReader): readonly string[] {
  const path: string[] = [];
  do {
    const token = reader.next();
    if (token.kind !== 'word' && token.kind !== 'quoted') {
      throw new FilterSyntaxError(token.position, `expected a field, got ${show(token)}`);
    }
    path.push(token.text);
  } while (reader.takes('.'));
  return path;
}

function readOperator(reader: TokenReader): FilterOperator {
  const token = reader.next();
  const isOperator = token.kind === 'operator' || token.kind === 'word';
  const operator = isOperator && Object.hasOwn(OPERATORS, token.text.toLowerCase());
  if (!operator) throw new FilterSyntaxError(token.position, `expected an operator such as =, got ${show(token)}`);
  return OPERATORS[token.text.toLowerCase()] ?? '=';
}

/** Reads a value. Joins tokens separated by `.`, because the tokenizer splits a number such as `1.5` at the `.`. */
function readValue(reader: TokenReader): FilterValue {
  const token = reader.next();
  if (token.kind !== 'word' && token.kind !== 'quoted') {
    throw new FilterSyntaxError(token.position, `expected a value, got ${show(token)}`);
  }
  let { text } = token;
  while (token.kind === 'word' && reader.takes('.')) text += `.${reader.next().text}`;
  return { text, isQuoted: token.kind === 'quoted', position: token.position };
}

function show({ kind, text }: Token): string {
  return kind === 'end' ? 'the end' : `"${text}"`;
}
