/** Encodes point columns: fixed-width columns as little-endian bytes, texts as codes into a table. */
import { NO_ID } from '../../points/dictionary.ts';

/** Width of an instant or a double in a packed column. */
export const BYTES_PER_VALUE = 8;

const TWO_32 = 2 ** 32;

/** Encodes instants in microseconds since 1970 as sfixed64. */
export function toInt64Bytes(micros: Float64Array): Buffer {
  const bytes = Buffer.allocUnsafe(micros.length * BYTES_PER_VALUE);
  for (const [index, value] of micros.entries()) {
    const high = Math.floor(value / TWO_32);
    bytes.writeUInt32LE(value - high * TWO_32, index * 8);
    bytes.writeInt32LE(high, index * 8 + 4);
  }
  return bytes;
}

/** Encodes doubles as eight little-endian bytes each; NaN stays NaN. */
export function toDoubleBytes(values: Float64Array): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * BYTES_PER_VALUE);
  for (const [index, value] of values.entries()) bytes.writeDoubleLE(value, index * 8);
  return bytes;
}

/**
 * Encodes a column of texts with a dictionary: lists each distinct text once, and gives each point a code.
 * @param ids dictionary id of each point's text; NO_ID for a point without a text.
 * @returns `texts`, the distinct texts, and `codes`, one code per point. A point's code is the position of its text in
 * `texts`, counted from 1, or 0 when the point has no text. Both lists are empty when no point has a text.
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
