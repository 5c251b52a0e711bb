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
 * Encodes the texts of a column as codes, which number the different texts.
 * @param ids dictionary id of each point's text; NO_ID for none.
 * @returns the different texts, and one code per point: 0 without a text, otherwise the position in `texts`, from 1.
 * `codes` and `texts` are empty when no point has a text.
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
