/**
 * Text is read as latin1 first, a character a byte: searching it is fast, and places in it are places in the file. What
 * is needed of it and is not ASCII is decoded here.
 */
const decoder = new TextDecoder('utf-8', { fatal: true });
const NOT_ASCII = /[\x80-\xff]/;

/** @returns undefined when the bytes are not UTF-8. */
export function decodeUtf8(latin1: string): string | undefined {
  if (!NOT_ASCII.test(latin1)) return latin1;
  try {
    return decoder.decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return undefined;
  }
}
