/**
 * Reads the shared strings of a workbook (the texts that cells refer to by index) into one buffer, because a JavaScript
 * string for each would take more memory.
 */
import { FileRefusal } from '../standard-file.ts';
import { MAX_CELL_BYTES } from './sheet-cells.ts';
import type { XlsxArchive } from './xlsx-archive.ts';
import { decodeXml, XmlScanner, type XmlVisitor } from './xml-scanner.ts';

/** The shared strings of a workbook, by index. */
export interface SharedStrings {
  /**
   * @param index index of the shared string, counted from 0.
   * @param place function that returns the row of the cell, for the message of a refusal.
   * @returns the text, cut to the length limit of a cell; undefined when there is no such string.
   * @throws {FileRefusal} damaged_file when the text is not UTF-8.
   */
  get(index: number, place: () => string): string | undefined;
}

const MAX_BYTES = 96 << 20;
const MAX_COUNT = 4_000_000;
const TOO_MANY_BYTES = `at most ${MAX_BYTES >> 20} MiB of shared strings`;
const FIRST_BYTES = 1 << 16;
const FIRST_COUNT = 1 << 10;
const CACHED = 4096;
// Longer texts are not cached, to bound the memory of the cache.
const MAX_CACHED_CHARACTERS = 1000;

/** Used for a workbook that has no shared strings. */
export const NO_STRINGS: SharedStrings = { get: () => undefined };

/**
 * Reads the shared strings from the part `name` of the archive.
 * @throws {FileRefusal} too_large above 96 MiB of text or 4,000,000 strings; damaged_file when the part is not valid;
 *   wrong_format for an encoding other than UTF-8 or US-ASCII.
 */
export async function readSharedStrings(archive: XlsxArchive, name: string): Promise<SharedStrings> {
  const table = new StringTable();
  let raw = '';
  // Elements `t` contain the text. An element `t` inside a phonetic run (`rPh`) is ignored: it is a pronunciation.
  let isText = false;
  let phoneticDepth = 0;
  const visitor: XmlVisitor = {
    open: (element) => {
      if (element === 'si') raw = '';
      else if (element === 'rPh') phoneticDepth += 1;
      else if (element === 't') isText = phoneticDepth === 0;
    },
    close: (element) => {
      if (element === 'si') table.add(raw);
      else if (element === 'rPh') phoneticDepth -= 1;
      else if (element === 't') isText = false;
    },
    text: (piece) => {
      if (isText) raw += piece;
      if (raw.length > MAX_BYTES) throw tooLarge(TOO_MANY_BYTES);
    },
  };
  const scanner = new XmlScanner(visitor, name);
  for await (const piece of archive.read(name)) scanner.feed(piece.toString('latin1'));
  scanner.end();
  return table;
}

class StringTable implements SharedStrings {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  /** End offset of each text in `#bytes`. */
  #ends = new Uint32Array(FIRST_COUNT);
  #count = 0;
  #size = 0;
  readonly #cache = new Map<number, string>();

  /** Appends a text. @param raw latin1 text with XML entities. */
  add(raw: string): void {
    if (this.#count >= MAX_COUNT) throw tooLarge(`at most ${MAX_COUNT} shared strings`);
    if (this.#count === this.#ends.length) {
      const ends = new Uint32Array(this.#ends.length * 2);
      ends.set(this.#ends);
      this.#ends = ends;
    }
    this.#reserve(raw.length);
    this.#size += this.#bytes.write(raw, this.#size, 'latin1');
    this.#ends[this.#count++] = this.#size;
  }

  get(index: number, place: () => string): string | undefined {
    if (!(index >= 0 && index < this.#count)) return undefined;
    const known = this.#cache.get(index);
    if (known !== undefined) return known;
    const start = index === 0 ? 0 : (this.#ends[index - 1] ?? 0);
    let end = Math.min(this.#ends[index] ?? 0, start + MAX_CELL_BYTES);
    // Cuts before a UTF-8 character, not inside it.
    if (end - start === MAX_CELL_BYTES) while (((this.#bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
    const text = unescapeText(decodeXml(this.#bytes.toString('latin1', start, end), place));
    if (this.#cache.size < CACHED && text.length <= MAX_CACHED_CHARACTERS) this.#cache.set(index, text);
    return text;
  }

  #reserve(bytes: number): void {
    const needed = this.#size + bytes;
    if (needed > MAX_BYTES) throw tooLarge(TOO_MANY_BYTES);
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#size);
    this.#bytes = larger;
  }
}

/** Decodes characters that are written like `_x000D_` (ECMA-376 part 1, 22.9.2.19). */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([\dA-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function tooLarge(limit: string): FileRefusal {
  return new FileRefusal(
    'too_large',
    `the workbook must have ${limit}; split it into several files, or send it as CSV`,
  );
}
