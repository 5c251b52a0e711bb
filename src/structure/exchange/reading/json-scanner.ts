/**
 * Reads a JSON document from a stream, one member or list element at a time. So memory does not grow with the length of
 * a list. The scanner finds where each value ends; `parseJsonText` checks and parses the value.
 */
import { parseJsonText } from '../../../platform/json/json-text.ts';
import { MAX_SHOWN, showBytes } from '../../../platform/limits.ts';
import { DocumentRefusal, type RefusalCode } from './document-refusal.ts';

/** If the value of a member is a list: one element of the list. Otherwise: the whole value of the member. */
export interface JsonElement {
  /** Name of the member. */
  readonly list: string;
  /** Position in the list, from 0; undefined when the value of the member is not a list. */
  readonly index: number | undefined;
  readonly value: unknown;
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Yields the elements of each member that is a list, and the whole value of each other member, in the order of the
 * document. An empty list yields nothing.
 * @param maxBytes maximum size of an element of a list, or of the value of a member that is not a list.
 * @throws {DocumentRefusal} malformed_document, too_large.
 */
export async function* scanJson(pieces: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<JsonElement> {
  const reader = new ValueReader(pieces[Symbol.asyncIterator](), maxBytes);
  await reader.skipMark();
  await reader.expect(OPEN_OBJECT, 'the document must be a JSON object');
  if ((await reader.peek()) === CLOSE_OBJECT) reader.advance();
  else yield* scanMembers(reader);
  if ((await reader.peek()) !== undefined)
    throw reader.fault('only white space may follow the } that closes the document');
}

async function* scanMembers(reader: ValueReader): AsyncGenerator<JsonElement> {
  for (;;) {
    if ((await reader.peek()) !== QUOTE) throw reader.fault('a member must begin with a name in double quotes');
    const list = (await reader.read(() => 'the name of a member')) as string;
    await reader.expect(COLON, 'a colon must follow the name of a member');
    if ((await reader.peek()) === OPEN_LIST) yield* scanElements(reader, list);
    else yield { list, index: undefined, value: await reader.read(() => pathOf(list)) };
    if (await reader.takeMark(CLOSE_OBJECT, 'a comma or } must follow a member')) return;
  }
}

async function* scanElements(reader: ValueReader, list: string): AsyncGenerator<JsonElement> {
  reader.advance();
  if ((await reader.peek()) === CLOSE_LIST) {
    reader.advance();
    return;
  }
  for (let index = 0; ; index += 1) {
    yield { list, index, value: await reader.read(() => `${pathOf(list)}[${index}]`) };
    if (await reader.takeMark(CLOSE_LIST, 'a comma or ] must follow an element')) return;
  }
}

/** @returns the JSON path of a member. The name may have any length; the path shows only the beginning of the name. */
function pathOf(member: string): string {
  return `$.${member.slice(0, MAX_SHOWN)}`;
}

/** Finds and parses the JSON values of a stream. */
class ValueReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #maxBytes: number;
  #piece: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** Number of bytes before the current piece. */
  #before = 0;

  constructor(pieces: AsyncIterator<Uint8Array>, maxBytes: number) {
    this.#pieces = pieces;
    this.#maxBytes = maxBytes;
  }

  /** @returns the error for a broken rule. `at` is the position of the faulty byte, counted from 0. */
  fault(rule: string, at = this.#position, code: RefusalCode = 'malformed_document'): DocumentRefusal {
    return new DocumentRefusal(code, `${rule}; see byte ${at} of the document`);
  }

  get #position(): number {
    return this.#before + this.#at;
  }

  /**
   * Reads a value.
   * @param name returns the name of the value for error messages, such as `$.sites[0]`.
   */
  async read(name: () => string): Promise<unknown> {
    await this.peek();
    const start = this.#position;
    const bytes = await this.#value(name, start);
    try {
      return parseJsonText(UTF_8.decode(bytes));
    } catch (error) {
      throw this.fault(`${name()} must be valid JSON in UTF-8: ${(error as Error).message}`, start);
    }
  }

  /** Skips the byte order mark, if there is one. */
  async skipMark(): Promise<void> {
    if ((await this.peek()) !== 0xef) return;
    for (const byte of [0xef, 0xbb, 0xbf])
      await this.expect(byte, 'the document must begin with { or with the byte order mark of UTF-8');
  }

  /** Skips white space. @returns the next byte, without advancing past it; undefined at the end of the document. */
  async peek(): Promise<number | undefined> {
    for (;;) {
      for (; this.#at < this.#piece.length; this.#at += 1) {
        const byte = this.#piece[this.#at] as number;
        if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
      }
      if (!(await this.#fill())) return undefined;
    }
  }

  advance(): void {
    this.#at += 1;
  }

  async expect(byte: number, rule: string): Promise<void> {
    if ((await this.peek()) !== byte) throw this.fault(rule);
    this.advance();
  }

  /** Requires that the next byte is a comma or `end`, and advances past it. @returns whether the byte is `end`. */
  async takeMark(end: number, rule: string): Promise<boolean> {
    const byte = await this.peek();
    if (byte !== end && byte !== COMMA) throw this.fault(rule);
    this.advance();
    return byte === end;
  }

  /** Advances past the value that begins at the next byte. @returns the bytes of the value. */
  async #value(name: () => string, start: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    const state = { depth: 0, isText: false, isEscaped: false };
    for (let size = 0; ; ) {
      const from = this.#at;
      const isWhole = this.#scan(state);
      const part = this.#piece.subarray(from, this.#at);
      size += part.length;
      if (size > this.#maxBytes) {
        const rule = `must be at most ${showBytes(this.#maxBytes)}, and its quotes and brackets must be closed`;
        throw this.fault(`${name()} ${rule}`, start, 'too_large');
      }
      if (isWhole) return parts.length === 0 ? part : Buffer.concat([...parts, part]);
      parts.push(part);
      if (!(await this.#fill())) throw this.fault(`the document must not end within ${name()}`, start);
    }
  }

  /** Advances to the end of the value, or of the piece if the piece ends first. @returns whether the value ended. */
  #scan(state: { depth: number; isText: boolean; isEscaped: boolean }): boolean {
    const piece = this.#piece;
    for (; this.#at < piece.length; this.#at += 1) {
      const byte = piece[this.#at] as number;
      if (state.isText) {
        if (state.isEscaped) state.isEscaped = false;
        else if (byte === BACKSLASH) state.isEscaped = true;
        else if (byte === QUOTE) {
          state.isText = false;
          if (state.depth === 0) return this.#take();
        }
      } else if (byte === QUOTE) state.isText = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) state.depth += 1;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        // At depth 0, this bracket closes the surrounding list or object, so the value ends before the bracket.
        if (state.depth === 0) return true;
        state.depth -= 1;
        if (state.depth === 0) return this.#take();
      } else if (state.depth === 0 && isEnd(byte)) return true;
    }
    return false;
  }

  #take(): boolean {
    this.#at += 1;
    return true;
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#pieces.next();
    if (done) return false;
    this.#before += this.#piece.length;
    this.#piece = value;
    this.#at = 0;
    return true;
  }
}

/** Returns true for a byte that ends a number, `true`, `false` or `null`. `#scan` handles brackets itself. */
function isEnd(byte: number): boolean {
  return byte === COMMA || byte === COLON || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
