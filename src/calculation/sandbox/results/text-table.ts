/**
 * Table of the distinct texts in a dictionary-coded result column. A small table is an array of strings. A large table
 * stays UTF-8, and each text is decoded when it is read: decoding millions of texts together would block the event loop
 * for seconds.
 */
import { isStorableText } from '../../../platform/database/storable-text.ts';

export interface TextTable {
  readonly length: number;
  /** @returns the text at an index; undefined when the table ends before it. */
  at(index: number): string | undefined;
}

/** A table that holds its texts as bytes. `postMessage` keeps the properties of the object, but not its class. */
export class PackedTexts implements TextTable {
  /** All texts of the table in UTF-8, one after the other. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** For each text, the position after its last byte. */
  readonly ends: Float64Array<ArrayBuffer>;

  constructor(bytes: Uint8Array<ArrayBuffer>, ends: Float64Array<ArrayBuffer>) {
    this.bytes = bytes;
    this.ends = ends;
  }

  get length(): number {
    return this.ends.length;
  }

  at(index: number): string | undefined {
    const end = this.ends[index];
    if (end === undefined) return undefined;
    const from = this.ends[index - 1] ?? 0;
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + from, end - from).toString('utf8');
  }

  /** @returns the index of the first text of more than `maxCharacters` UTF-16 units. */
  findLonger(maxCharacters: number): number | undefined {
    let from = 0;
    for (const [index, end] of this.ends.entries()) {
      // A text never has more UTF-16 units than UTF-8 bytes, so only a text of more than `maxCharacters` bytes is
      // decoded.
      const text = end - from > maxCharacters ? this.at(index) : undefined;
      if (text !== undefined && text.length > maxCharacters) return index;
      from = end;
    }
    return undefined;
  }

  hasNul(): boolean {
    return this.bytes.includes(0);
  }
}

/** @returns the index of the first text that has more than `maxCharacters` UTF-16 units; undefined when none has. */
export function findLongerText(table: TextTable, maxCharacters: number): number | undefined {
  if (table instanceof PackedTexts) return table.findLonger(maxCharacters);
  for (let index = 0; index < table.length; index += 1) {
    const text = table.at(index);
    if (text !== undefined && text.length > maxCharacters) return index;
  }
  return undefined;
}

/**
 * @returns true when a text of the table cannot be stored, because it has a NUL or an unpaired surrogate. `PackedTexts`
 * looks only for NUL: texts decoded from UTF-8 have no unpaired surrogates.
 */
export function hasUnstorableText(table: TextTable): boolean {
  if (table instanceof PackedTexts) return table.hasNul();
  for (let index = 0; index < table.length; index += 1) if (!isStorableText(table.at(index) ?? '')) return true;
  return false;
}
