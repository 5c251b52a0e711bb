/**
 * Writes the rows of JSON and CSV answers directly as bytes, without creating a string for each cell. Strings would
 * take twice the time and grow the heap by 200 MB on a long answer.
 */
import { zoneOffset } from '../../structure/catalogue/time-zones.ts';
import { INSTANT_BYTES, instantWriter, localInstantWriter } from './instant-writer.ts';
import { NUMBER_BYTES, numberWriter, writeAscii } from './number-writer.ts';
import type { Cells, Column, InstantWriter } from './table.ts';

/** Part of every row: bytes that are the same in all rows, or a writer of bytes that differ between rows. */
export type Part = Uint8Array | PartWriter;

export interface PartWriter {
  /** Maximum number of bytes that `write` writes for a row. */
  readonly maxBytes: number;
  /** @returns the offset after the written bytes. */
  readonly write: (bytes: Uint8Array, at: number, row: number) => number;
}

/** Defines how a format writes texts and missing values. */
export interface CellTexts {
  readonly none: string;
  readonly text: (text: string, column: Column) => string;
}

/** Minimum number of bytes in a chunk of JSON rows or CSV. Only the last chunk of an answer may be shorter. */
const PIECE_BYTES = 1 << 16;
const FIRST_CAPACITY = 1 << 12;

/** Growing buffer of encoded rows; `take` empties it. */
export class RowBytes {
  #bytes = Buffer.alloc(0);
  #size = 0;
  #capacity = FIRST_CAPACITY;

  /** Encodes rows; a row is the concatenation of its parts. */
  writeRows(parts: readonly Part[], rowCount: number): void {
    const rowBytes = parts.reduce((sum, part) => sum + ('maxBytes' in part ? part.maxBytes : part.length), 0);
    for (let row = 0; row < rowCount; row++) {
      this.#reserve(rowBytes);
      let at = this.#size;
      for (const part of parts) {
        at = 'maxBytes' in part ? part.write(this.#bytes, at, row) : copyInto(this.#bytes, at, part);
      }
      this.#size = at;
    }
  }

  writeText(text: string): void {
    const bytes = Buffer.from(text);
    this.#reserve(bytes.length);
    this.#size = copyInto(this.#bytes, this.#size, bytes);
  }

  /** True when the buffer has enough bytes (`PIECE_BYTES`) for a chunk of the answer. */
  get isPiece(): boolean {
    return this.#size >= PIECE_BYTES;
  }

  /** Returns the bytes written since the last call and continues in a new buffer. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#size);
    // Batches are similar in size, so the next buffer is one eighth larger than this batch.
    this.#capacity = this.#size + (this.#size >> 3);
    this.#bytes = Buffer.alloc(0);
    this.#size = 0;
    return taken;
  }

  #reserve(count: number): void {
    const needed = this.#size + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#capacity, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#size);
    this.#bytes = larger;
  }
}

/** @returns for each column, a function that writes instants as text and caches the day of the last instant. */
export function instantWriters(columns: readonly Column[]): readonly InstantWriter[] {
  return columns.map(({ timeZoneId }) =>
    timeZoneId === undefined ? instantWriter() : localInstantWriter(zoneOffset(timeZoneId)),
  );
}

/**
 * @param before prefix of each label. Only `cells` of kind `codes` have labels. A row without a label gets no prefix.
 * @returns the part that writes `cells`.
 */
export function partOf(column: Column, cells: Cells, writeInstant: InstantWriter, texts: CellTexts, before = ''): Part {
  switch (cells.kind) {
    case 'absent':
      return Buffer.alloc(0);
    case 'constant':
      return Buffer.from(cells.value === null ? texts.none : String(cells.value));
    case 'numbers':
      return numberPart(cells.values, texts.none);
    case 'instants':
      return instantPart(cells.values, writeInstant);
    case 'codes':
      return codePart(cells.ids, (id) => {
        const text = cells.textOf(id);
        return text === null ? '' : before + texts.text(text, column);
      });
  }
}

/** Merges adjacent constant parts. */
export function joinParts(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if ('maxBytes' in part || last === undefined || 'maxBytes' in last) joined.push(part);
    else joined[joined.length - 1] = Buffer.concat([last, part]);
  }
  return joined.filter((part) => 'maxBytes' in part || part.length > 0);
}

/** Writes numbers, with `none` in place of NaN and infinite values, which JSON cannot represent. */
function numberPart(values: Float64Array, none: string): PartWriter {
  const writeNumber = numberWriter();
  const write: PartWriter['write'] = (bytes, at, row) => {
    const value = values[row] ?? Number.NaN;
    return Number.isFinite(value) ? writeNumber(bytes, at, value) : writeAscii(bytes, at, none);
  };
  return { maxBytes: NUMBER_BYTES, write };
}

/**
 * When a row has the same instant as the previous row, copies the formatted text instead of formatting the instant
 * again. The copy saves time because most of the points that a client writes together share a VersionTimestamp.
 */
function instantPart(values: Float64Array, writeInstant: InstantWriter): PartWriter {
  let last = Number.NaN;
  const text = new Uint8Array(INSTANT_BYTES);
  let length = 0;
  const write: PartWriter['write'] = (bytes, at, row) => {
    const value = values[row] ?? 0;
    if (value !== last) {
      last = value;
      length = 0;
      return writeInstant(bytes, at, value);
    }
    if (length === 0) length = writeInstant(text, 0, value);
    for (let index = 0; index < length; index++) bytes[at + index] = text[index] as number;
    return at + length;
  };
  return { maxBytes: INSTANT_BYTES, write };
}

function codePart(ids: Int32Array, textOf: (id: number) => string): PartWriter {
  const bytesOf = new Map<number, Uint8Array>();
  let maxBytes = 0;
  for (const id of ids) {
    if (bytesOf.has(id)) continue;
    const text = Buffer.from(textOf(id));
    maxBytes = Math.max(maxBytes, text.length);
    bytesOf.set(id, text);
  }
  let lastId = Number.NaN;
  let last: Uint8Array = Buffer.alloc(0);
  const write: PartWriter['write'] = (bytes, at, row) => {
    const id = ids[row] ?? 0;
    if (id !== lastId) {
      lastId = id;
      last = bytesOf.get(id) ?? last;
    }
    return copyInto(bytes, at, last);
  };
  return { maxBytes, write };
}

/**
 * Copies `piece` into `bytes`. Copies up to 64 bytes in a loop, which is faster than `set` for so few bytes.
 * @returns the offset after the copied bytes.
 */
function copyInto(bytes: Uint8Array, at: number, piece: Uint8Array): number {
  const { length } = piece;
  if (length > 64) bytes.set(piece, at);
  else for (let index = 0; index < length; index++) bytes[at + index] = piece[index] as number;
  return at + length;
}
