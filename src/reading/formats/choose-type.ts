/** Content negotiation by the header `Accept` (RFC 9110 §12.5.1). */

interface Range {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
}

const RANGE = /^\s*([^\s;/]+)\/([^\s;/]+)\s*((?:;[^;]*)*)$/;
const QUALITY = /^;\s*q\s*=\s*(\d(?:\.\d*)?)\s*$/i;

/**
 * Negotiates a media type.
 * @param offered types without parameters; the first is the default.
 * @returns the offered type with the greatest quality; among equal qualities, the type that the client named first.
 * When the client accepts no offered type, returns the default rather than an error: shipped clients send arbitrary
 * `Accept` headers, and `Content-Type` names the format.
 */
export function chooseType<Type extends string>(accept: string | undefined, offered: readonly [Type, ...Type[]]): Type {
  const ranges = (accept ?? '').split(',').flatMap((text) => parseRange(text) ?? []);
  let best: { readonly type: Type; readonly quality: number; readonly index: number } | undefined;
  for (const type of offered) {
    const index = findRange(ranges, type);
    const quality = ranges[index]?.quality ?? 0;
    const isBetter = !best || quality > best.quality || (quality === best.quality && index < best.index);
    if (quality > 0 && isBetter) best = { type, quality, index };
  }
  return best?.type ?? offered[0];
}

/** @returns the index of the most specific range that matches a type; -1 when no range matches. */
function findRange(ranges: readonly Range[], offered: string): number {
  const [type = '', subtype = ''] = offered.split('/');
  const exact = ranges.findIndex((range) => range.type === type && range.subtype === subtype);
  if (exact >= 0) return exact;
  const ofType = ranges.findIndex((range) => range.type === type && range.subtype === '*');
  return ofType >= 0 ? ofType : ranges.findIndex((range) => range.type === '*' && range.subtype === '*');
}

/** @returns undefined for text that is not a media range; the caller ignores such text. */
function parseRange(text: string): Range | undefined {
  const [, type, subtype, parameters = ''] = RANGE.exec(text.toLowerCase()) ?? [];
  if (type === undefined || subtype === undefined) return undefined;
  const qualities = (parameters.match(/;[^;]*/g) ?? []).flatMap((part) => QUALITY.exec(part)?.[1] ?? []);
  return { type, subtype, quality: Math.min(1, Number(qualities[0] ?? 1)) };
}
