/**
 * Encodes point columns: a fixed-width column as little-endian bytes, and a column of texts as the list of its distinct
 * texts and one code per point.
 */
import { NO_ID } from '../../points/dictionary.ts';

/** Width of an instant or a double in a packed column. */
export const BYTES_PER_VALUE = 8;

const TWO_32 = 2 ** 32;

/** Encodes each instant, in microseconds since 1970, as an sfixed64. */
export function toInt64Bytes(micros: Float64Array): Buffer {
  const bytes = Buffer.allocUnsafe(micros.length * BYTES_PER_VALUE);
  for (const [index, value] of micros.entries()) {
    const high = Math.floor(value / TWO_32);
    bytes.writeUInt32LE(value - high * TWO_32, index * 8);
    bytes.writeInt32LE(high, index * 8 + 4);
  }
  return bytes;
}

/** Encodes each double as eight little-endian bytes; NaN stays NaN. */
export function toDoubleBytes(values: Float64Array): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * BYTES_PER_VALUE);
  for (const [index, value] of values.entries()) bytes.writeDoubleLE(value, index * 8);
  return bytes;
}

/**
 * Encodes a column of texts: lists each distinct text once, and gives each point a code.
 * @param ids id of each point's text in the dictionary (dictionary.ts); NO_ID for a point without a text.
 * @returns `texts`, the distinct texts, and `codes`, one code per point. The code of a point without a text is 0. The
 * code of any other point is the position of its text in `texts`, counted from 1. Both lists are empty when no point
 * has a text.
 */
export function codeTexts(
  ids: Int32Array,
  textOf: (id: number) => string | null,
): { readonly codes: readonly number[]; readonly texts: readonly string[] } {
  const codeOf = new Map<number, number>([[NO_ID, 0]]);
  const texts: string[] = [];
  const codes = Array.from(ids, (id) => {
    const known = codeOf.get(id);
    if (known !== undefined) return known;
    const text = textOf(id);
    const code = text === null ? 0 : texts.push(text);
    codeOf.set(id, code);
    return code;
  });
  return texts.length === 0 ? { codes: [], texts } : { codes, texts };
}
