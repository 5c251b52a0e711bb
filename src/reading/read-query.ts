/** What a read was asked with, whether in a query or in a body: one form for both (R-G1). */
import { type Query, queryError } from '../platform/query-string.ts';

/** Key and value of a tag. */
export type TagPair = readonly [key: string, value: string];

export interface ReadQuery extends Query {
  /** Tags given as members of an object, which only a body can. */
  readonly tagPairs: readonly TagPair[];
}

const TAGS = 'tags';

/** A query string as what was asked. */
export function queryOfAddress(query: Query): ReadQuery {
  return { ...query, tagPairs: [] };
}

/**
 * A JSON body as what was asked: names in any case, members of nested objects under their own name, arrays as repeated
 * values, null as absent. `tags` may be an object of texts.
 * @throws DomainError invalid_input for a tag whose value is no text.
 */
export function queryOfBody(body: unknown): ReadQuery {
  const values = new Map<string, string[]>();
  const tagPairs: TagPair[] = [];
  const collect = (name: string, value: unknown): void => {
    if (value === null || value === undefined) return;
    if (Array.isArray(value)) for (const item of value) collect(name, item);
    else if (typeof value === 'object' && name === TAGS) tagPairs.push(...Object.entries(value).map(toTagPair));
    else if (typeof value === 'object')
      for (const [key, member] of Object.entries(value)) collect(key.toLowerCase(), member);
    else {
      const known = values.get(name);
      if (known) known.push(String(value));
      else values.set(name, [String(value)]);
    }
  };
  collect('', body);
  const all = (name: string): readonly string[] => values.get(name.toLowerCase()) ?? [];
  return { all, find: (name) => all(name).at(-1) || undefined, tagPairs };
}

function toTagPair([key, value]: [string, unknown]): TagPair {
  if (typeof value === 'string') return [key, value];
  throw queryError(TAGS, `must be an object of texts, got ${JSON.stringify(value)} at ${JSON.stringify(key)}`);
}
