/**
 * Caches the numbers that `TargetTable` and `LabelTable` give to keys. A key consists of the bytes and kinds of some
 * cells of a row, so looking up a cached key creates no strings. A full cache is emptied.
 */
import type { RowCells } from './row-cells.ts';

const MAX_KEY_BYTES = 1024;
const MAX_ENTRIES = 100_000;
const MAX_STORED_BYTES = 8 << 20;
const FIRST_STORED_BYTES = 1 << 16;
const SLOTS = 1 << 18;
const [FNV_OFFSET, FNV_PRIME] = [0x811c9dc5, 0x01000193];

export class CellKeys {
  readonly #columns: readonly number[];
  readonly #numberOf: (cells: RowCells) => number;
  readonly #key = Buffer.alloc(MAX_KEY_BYTES);
  #hash = 0;
  /** Open-addressing hash table. Each slot holds the index of its entry + 1, or 0 when free. */
  readonly #slots = new Int32Array(SLOTS);
  #stored: Buffer = Buffer.alloc(FIRST_STORED_BYTES);
  #storedBytes = 0;
  readonly #starts: number[] = [];
  readonly #ids: number[] = [];

  /**
   * @param columns positions of the columns whose cells form the key.
   * @param numberOf returns the number of a key that is not cached. For the same cells, the number may change only if
   *   `clear` is called.
   */
  constructor(columns: readonly number[], numberOf: (cells: RowCells) => number) {
    this.#columns = columns;
    this.#numberOf = numberOf;
  }

  /** Returns the number that identifies the row's key. The number comes from the cache or from `numberOf`. */
  idOf(cells: RowCells): number {
    const length = this.#readKey(cells);
    if (length > MAX_KEY_BYTES) return this.#numberOf(cells);
    let slot = this.#hash & (SLOTS - 1);
    for (let entry = this.#slots[slot] ?? 0; entry > 0; entry = this.#slots[slot] ?? 0) {
      if (this.#isKey(entry - 1, length)) return this.#ids[entry - 1] as number;
      slot = (slot + 1) & (SLOTS - 1);
    }
    const id = this.#numberOf(cells);
    this.#keep(slot, length, id);
    return id;
  }

  /** Empties the cache. */
  clear(): void {
    this.#slots.fill(0);
    this.#starts.length = this.#ids.length = this.#storedBytes = 0;
  }

  /**
   * Copies and hashes the key of a row. @returns the length of the key in bytes; more than MAX_KEY_BYTES when
   * the key is too long to cache.
   */
  #readKey({ bytes, starts, ends, kinds }: RowCells): number {
    const key = this.#key;
    let hash = FNV_OFFSET;
    let length = 0;
    for (const column of this.#columns) {
      const end = ends[column] ?? 0;
      for (let at = starts[column] ?? 0; at < end && length < MAX_KEY_BYTES - 1; at += 1) {
        const byte = bytes[at] as number;
        key[length++] = byte;
        hash = Math.imul(hash ^ byte, FNV_PRIME);
      }
      if (length >= MAX_KEY_BYTES - 1) return MAX_KEY_BYTES + 1;
      const kind = kinds?.[column] ?? 0;
      key[length++] = kind;
      // NUL separates the cells of a key. A row with NUL in one of these cells is invalid anyway.
      key[length++] = 0;
      hash = Math.imul(hash ^ kind, FNV_PRIME);
    }
    this.#hash = hash ^ (hash >>> 15);
    return length;
  }

  #isKey(entry: number, length: number): boolean {
    const start = this.#starts[entry] as number;
    if ((this.#starts[entry + 1] ?? this.#storedBytes) - start !== length) return false;
    for (let index = 0; index < length; index += 1) {
      if (this.#stored[start + index] !== this.#key[index]) return false;
    }
    return true;
  }

  #keep(slot: number, length: number, id: number): void {
    if (this.#ids.length === MAX_ENTRIES || this.#storedBytes + length > MAX_STORED_BYTES) {
      this.clear();
      return;
    }
    if (this.#storedBytes + length > this.#stored.length) {
      const larger = Buffer.alloc(this.#stored.length * 2);
      this.#stored.copy(larger);
      this.#stored = larger;
    }
    this.#starts.push(this.#storedBytes);
    this.#storedBytes += this.#key.copy(this.#stored, this.#storedBytes, 0, length);
    this.#slots[slot] = this.#ids.push(id);
  }
}
