/**
 * Decodes UTF-8 that was read as latin1. Parsers read latin1, one character per byte: searching is fast, and an offset
 * in the text is an offset in the bytes.
 */
const decoder = new TextDecoder('utf-8', { fatal: true });
const NOT_ASCII = /[\x80-\xff]/;

/**
 * Decodes UTF-8 that was read as latin1.
 * @param latin1 text that has one character per byte of the UTF-8.
 * @returns undefined when the bytes are not UTF-8.
 */
export function decodeUtf8(latin1: string): string | undefined {
  if (!NOT_ASCII.test(latin1)) return latin1;
  try {
    return decoder.decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return undefined;
  }
}
