/**
 * Reads the parts of a result frame: counts, columns, texts and tables (layouts in r-runtime/FRAMES.md). The bytes come
 * from a script's process and are not trusted. Every count is checked against the remaining bytes. Every code (an index
 * into a table of texts) is checked against the length of its table.
 */
import type { OutputColumn } from '../sandbox-types.ts';
import { PackedTexts, type TextTable } from './text-table.ts';

/** Thrown when bytes are not a valid result frame: they are truncated, forged, or of another version. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/**
 * Limits of a result (R-H7). A script can forge a frame, so a count is checked before memory is allocated for the
 * counted items.
 */
export interface FrameLimits {
  readonly maxPoints: number;
  /**
   * Maximum number of bytes in each list (messages, warnings, errors) and in each single text. Longer lists and texts are cut.
   * An empty text counts as one byte.
   */
  readonly maxTextBytes: number;
}

/** If a table has more texts than this, each text is decoded only when it is read. */
const MAX_TABLE_STRINGS = 1000;

/** Thrown when a column of a result has more than `maxPoints` points. */
export class PointLimitError extends FrameError {}

/** Reads the values of a frame in order. Each method throws {FrameError} when the next bytes are not a valid value. */
export class FrameReader {
  readonly #bytes: Buffer;
  readonly #limits: FrameLimits;
  #at = 0;

  constructor(bytes: Buffer, limits: FrameLimits) {
    this.#bytes = bytes;
    this.#limits = limits;
  }

  int(): number {
    this.#require(4);
    this.#at += 4;
    return this.#bytes.readInt32LE(this.#at - 4);
  }

  /** Reads a count. Requires that the remaining bytes can hold this number of items of `itemBytes` each. */
  count(itemBytes: number): number {
    const count = this.int();
    if (count < 0) throw new FrameError(`a count must not be negative, got ${count}`);
    this.#require(count * itemBytes);
    return count;
  }

  /** Reads a count of points. @throws {PointLimitError} when the count exceeds `maxPoints`. */
  rows(itemBytes: number): number {
    return this.#withinPoints(this.count(itemBytes));
  }

  ints(count: number): Int32Array<ArrayBuffer> {
    return new Int32Array(this.#copy(count * 4));
  }

  doubles(count: number): Float64Array {
    return new Float64Array(this.#copy(count * 8));
  }

  blob(): Buffer {
    return Buffer.from(this.#copy(this.count(1)));
  }

  text(): string {
    return this.#readTexts(1)[0] ?? '';
  }

  /** Reads the number of texts, then the texts. Keeps at most `maxTextBytes` bytes of all texts together. */
  notes(): string[] {
    return this.#readTexts(this.count(4));
  }

  /**
   * Reads a text column: a table of texts, then one code per row. A code is an index into the table.
   * @returns null when the column is absent (count −1).
   */
  codedTexts(): OutputColumn | null {
    const rows = this.int();
    if (rows === -1) return null;
    if (rows < 0) throw new FrameError(`the count of a text column must be at least -1, got ${rows}`);
    this.#withinPoints(rows);
    const texts = this.#table(rows);
    const codes = this.ints(rows);
    for (const code of codes) {
      if (code < 0 || code >= texts.length) {
        throw new FrameError(
          `a code must be at least 0 and less than the length of its table (${texts.length}), got ${code}`,
        );
      }
    }
    return { codes, texts };
  }

  expectEnd(): void {
    const rest = this.#bytes.length - this.#at;
    if (rest > 0) throw new FrameError(`nothing may follow the frame of the result, but ${rest} B follow it`);
  }

  #withinPoints(count: number): number {
    const { maxPoints } = this.#limits;
    if (count > maxPoints) throw new PointLimitError(`a column must have at most ${maxPoints} points, got ${count}`);
    return count;
  }

  /**
   * Reads the lengths of all texts, but decodes at most `maxTextBytes` bytes in total, beginning with the first text.
   */
  #readTexts(count: number): string[] {
    const kept: string[] = [];
    let remaining = this.#limits.maxTextBytes;
    this.#eachText(count, (from, length) => {
      if (remaining <= 0) return;
      const end = length <= remaining ? from + length : characterStart(this.#bytes, from + remaining);
      kept.push(this.#bytes.toString('utf8', from, end));
      remaining -= Math.max(length, 1);
    });
    return kept;
  }

  /**
   * Reads the text table of a column. The runner writes each distinct text once, so the table is at most as long as its
   * column.
   */
  #table(rows: number): TextTable {
    const count = this.count(4);
    if (count > rows) throw new FrameError(`a table must not be longer than its column, got ${count} > ${rows}`);
    const ends = new Float64Array(count);
    const from = this.#at + count * 4;
    this.#eachText(count, (start, length, index) => {
      ends[index] = start + length - from;
    });
    const table = new PackedTexts(new Uint8Array(this.#bytes.subarray(from, this.#at)), ends);
    return count <= MAX_TABLE_STRINGS ? Array.from(ends, (_end, index) => table.at(index) ?? '') : table;
  }

  /** Calls `visit` for each of `count` texts. A generator would be too slow, as a frame may hold 47 million texts. */
  #eachText(count: number, visit: (from: number, length: number, index: number) => void): void {
    const lengthsAt = this.#at;
    this.#require(count * 4);
    this.#at += count * 4;
    for (let index = 0; index < count; index += 1) {
      const length = this.#bytes.readInt32LE(lengthsAt + index * 4);
      if (length < 0) throw new FrameError(`the length of a text must not be negative, got ${length}`);
      this.#require(length);
      visit(this.#at, length, index);
      this.#at += length;
    }
  }

  /** Copies the next `length` bytes: a typed array must begin at an aligned position, and a frame has no alignment. */
  #copy(length: number): ArrayBuffer {
    this.#require(length);
    const copy = new Uint8Array(length);
    copy.set(this.#bytes.subarray(this.#at, this.#at + length));
    this.#at += length;
    return copy.buffer;
  }

  #require(length: number): void {
    const rest = this.#bytes.length - this.#at;
    if (length > rest) throw new FrameError(`the result is truncated: expected ${length} B, got ${rest} B`);
  }
}

/** @returns the position of the first byte of the UTF-8 character that contains the byte at `at`. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  // A UTF-8 character has at most four bytes, and each byte after its first begins with the bits 10.
  while (start > at - 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
