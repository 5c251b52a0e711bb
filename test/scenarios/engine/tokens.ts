/** Tokens of a scenario file, and the errors for unexpected tokens. */
import type { SourcePosition } from './syntax.ts';

export interface Token {
  /**
   * - text: a quoted text
   * - mark: `{`, `}`, `;`, `,`, `=`, `->`, the end of a line or the end of the file
   * - word: every other token
   */
  readonly kind: 'word' | 'text' | 'mark';
  readonly text: string;
  readonly line: number;
}

export class ScenarioSyntaxError extends Error {
  constructor({ file, line }: SourcePosition, message: string) {
    super(`${file}:${line}: ${message}`);
  }
}

export const END_OF_LINE = 'the end of the line';
export const END_OF_FILE = 'the end of the file';

const TOKEN = /[ \t]+|#.*|(->|[{};,=])|("(?:[^"\\]|\\.)*")|([^\s{};,="#]+)/y;

/**
 * Cursor over the tokens of a file. `due`, `text` and `word` throw errors that give the position of the refused token.
 */
export interface Cursor {
  readonly file: string;
  /**
   * Returns the next token without moving the cursor. With `ahead`, returns the token that many positions after the
   * next token.
   */
  readonly next: (ahead?: number) => Token;
  readonly position: () => SourcePosition;
  readonly take: () => Token;
  /** Takes the next token if the token is a word or mark that equals `text`. Returns true when the token was taken. */
  readonly takes: (text: string) => boolean;
  readonly due: (mark: string) => void;
  /** Takes the next token and returns its text. If the token is a mark, throws an error about `what`. */
  readonly text: (what: string) => string;
  /** Consumes a word and returns the value that `read` parsed. Throws `<what> must be <rule>, got …` for another word. */
  readonly word: <Value>(what: string, rule: string, read: (word: string) => Value | undefined) => Value;
  readonly skipLineEnds: () => void;
  readonly fail: (message: string) => never;
}

export function openCursor(file: string, source: string): Cursor {
  const tokens = readTokens(file, source);
  let index = 0;
  const next = (ahead = 0): Token =>
    tokens[index + ahead] ?? { kind: 'mark', text: END_OF_FILE, line: source.split('\n').length };
  const position = (): SourcePosition => ({ file, line: next().line });
  const fail = (message: string): never => {
    throw new ScenarioSyntaxError(position(), message);
  };
  const take = (): Token => {
    const token = next();
    index += 1;
    return token;
  };
  const takes = (text: string): boolean => {
    const isNext = next().kind !== 'text' && next().text === text;
    if (isNext) index += 1;
    return isNext;
  };
  const text = (what: string): string =>
    next().kind === 'mark' ? fail(`${what} must be a word or a quoted string, got ${show(next())}`) : take().text;
  return {
    ...{ file, next, position: position, take, takes, text, fail },
    due: (mark) => {
      if (!takes(mark)) fail(`${mark} was expected, got ${show(next())}`);
    },
    word: (what, rule, read) => {
      const value = next().kind === 'word' ? read(next().text) : undefined;
      if (value === undefined) return fail(`${what} must be ${rule}, got ${show(next())}`);
      index += 1;
      return value;
    },
    skipLineEnds: () => {
      while (takes(END_OF_LINE));
    },
  };
}

/** @returns the text that stands for a token in error messages. */
export function show({ kind, text }: Token): string {
  return kind === 'text' ? JSON.stringify(text) : text;
}

function readTokens(file: string, source: string): readonly Token[] {
  return source.split('\n').flatMap((content, index) => {
    const line = index + 1;
    return [...readLine(content, { file, line }), { kind: 'mark', text: END_OF_LINE, line } as const];
  });
}

function readLine(content: string, position: SourcePosition): readonly Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let start = 0; start < content.length; start = TOKEN.lastIndex) {
    const match = TOKEN.exec(content);
    if (!match)
      throw new ScenarioSyntaxError(position, `a quoted text must end on its line, got ${content.slice(start)}`);
    const [, mark, quoted, word] = match;
    if (mark !== undefined) tokens.push({ kind: 'mark', text: mark, line: position.line });
    if (word !== undefined) tokens.push({ kind: 'word', text: word, line: position.line });
    if (quoted !== undefined) tokens.push({ kind: 'text', text: unquote(quoted, position), line: position.line });
  }
  return tokens;
}

function unquote(quoted: string, position: SourcePosition): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    throw new ScenarioSyntaxError(position, `a quoted text must be as in JSON, got ${quoted}`);
  }
}
