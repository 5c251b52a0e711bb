/** Which of the types a server has a client would rather have: the header `Accept` (RFC 9110 §12.5.1). */

interface Range {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
}

const RANGE = /^\s*([^\s;/]+)\/([^\s;/]+)\s*((?:;[^;]*)*)$/;
const QUALITY = /^;\s*q\s*=\s*(\d(?:\.\d*)?)\s*$/i;

/**
 * @param offered types without parameters, the server's favourite first.
 * @returns the type with the greatest quality, of equals the one the client named first. When the client accepts none,
 *   the favourite: an answer in another type says so itself, and shipped clients send all sorts of `Accept` (R-A3).
 */
export function chooseType<Type extends string>(accept: string | undefined, offered: readonly [Type, ...Type[]]): Type {
  const ranges = (accept ?? '').split(',').flatMap((text) => parseRange(text) ?? []);
  let best: { readonly type: Type; readonly quality: number; readonly place: number } | undefined;
  for (const type of offered) {
    const place = findRange(ranges, type);
    const quality = ranges[place]?.quality ?? 0;
    const isBetter = !best || quality > best.quality || (quality === best.quality && place < best.place);
    if (quality > 0 && isBetter) best = { type, quality, place };
  }
  return best?.type ?? offered[0];
}

/** The place of the range that says most precisely how welcome a type is; -1 when none does. */
function findRange(ranges: readonly Range[], offered: string): number {
  const [type = '', subtype = ''] = offered.split('/');
  const exact = ranges.findIndex((range) => range.type === type && range.subtype === subtype);
  if (exact >= 0) return exact;
  const ofType = ranges.findIndex((range) => range.type === type && range.subtype === '*');
  return ofType >= 0 ? ofType : ranges.findIndex((range) => range.type === '*' && range.subtype === '*');
}

/** @returns undefined for what is no media range, which is as good as absent. */
function parseRange(text: string): Range | undefined {
  const [, type, subtype, parameters = ''] = RANGE.exec(text.toLowerCase()) ?? [];
  if (type === undefined || subtype === undefined) return undefined;
  const qualities = (parameters.match(/;[^;]*/g) ?? []).flatMap((part) => QUALITY.exec(part)?.[1] ?? []);
  return { type, subtype, quality: Math.min(1, Number(qualities[0] ?? 1)) };
}
