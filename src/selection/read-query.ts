/**
 * Reads the body of `POST /data` in the same way as a query string, because the members of the body have the names of
 * the query parameters (R-G1).
 */
import { type InputLocation, locationError } from '../platform/http/input-location.ts';
import { jsonPath } from '../platform/http/lenient.ts';
import type { GivenValue, QuerySource } from '../platform/http/query.ts';

/** A tag as a pair of key and value. */
export type TagPair = readonly [key: string, value: string];

export interface BodySource extends QuerySource {
  /** Tags that the body gives as members of an object. */
  readonly tagPairs: readonly TagPair[];
}

interface Given extends GivenValue {
  readonly path: string;
}

const TAGS = 'tags';
const ROOT = '$';

/**
 * Reads parameters from a JSON body (R-G1). Names match in any letter case and with any prefix that ends in a dot. A
 * member of a nested object counts as a parameter with the member's own name, array elements count as repeated values,
 * and null counts as absent. `tags` may be an object of strings.
 * @throws {DomainError} invalid_input for a tag whose value is not a string. The returned source throws invalid_input
 * later, when a caller reads a parameter for which the body has an object instead of a value.
 */
export function sourceOfBody(body: unknown): BodySource {
  const values = new Map<string, Given[]>();
  const objects = new Map<string, string>();
  const tagPairs: TagPair[] = [];
  const collect = (name: string, value: unknown, path: string): void => {
    if (value === null || value === undefined) return;
    if (Array.isArray(value)) for (const [index, item] of value.entries()) collect(name, item, jsonPath(path, [index]));
    else if (typeof value === 'object' && name === TAGS)
      tagPairs.push(...Object.entries(value).map((tag) => toTagPair(tag, path)));
    else if (typeof value === 'object') {
      objects.set(name, path);
      for (const [key, member] of Object.entries(value)) collect(nameOf(key), member, jsonPath(path, [key]));
    } else {
      const known = values.get(name);
      const given = { name, text: String(value), path };
      if (known) known.push(given);
      else values.set(name, [given]);
    }
  };
  collect('', body, ROOT);
  const given = (name: string): readonly Given[] => {
    const object = objects.get(name.toLowerCase());
    if (object !== undefined)
      throw locationError(locationInBody(object), 'must be a value or a list of values, got an object');
    return values.get(name.toLowerCase()) ?? [];
  };
  return {
    all: given,
    locationOf: (name, index) =>
      locationInBody(pathOf(values.get(name.toLowerCase()) ?? [], index) ?? jsonPath(ROOT, [name])),
    tagPairs,
  };
}

/**
 * Returns the JSON path of the value at `index`. When `index` is undefined, returns the JSON path of the whole list.
 */
function pathOf(given: readonly Given[], index: number | undefined): string | undefined {
  return index === undefined ? given.at(-1)?.path.replace(/(\[\d+\])+$/, '') : given[index]?.path;
}

/** @returns the location of the value at a JSON path of a body. Error messages name the value by this path. */
export function locationInBody(path: string): InputLocation {
  return { subject: path, path };
}

function nameOf(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1).toLowerCase();
}

function toTagPair([key, value]: [string, unknown], path: string): TagPair {
  if (typeof value === 'string') return [key, value];
  throw locationError(locationInBody(jsonPath(path, [key])), `must be a string, got ${JSON.stringify(value)}`);
}
