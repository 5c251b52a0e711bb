/** Rules for the VersionTag and the tags of a point. Push, file import and calculations share these rules. */

export type Tags = Readonly<Record<string, string>>;

export interface Labels {
  readonly version: string | undefined;
  /** Canonical JSON; null when the point has no tags. */
  readonly tags: string | null;
}

/** Maximum length of a VersionTag, and of the key of a tag in a push or a file, in UTF-16 units. */
export const MAX_VERSION = 200;
/** Maximum length of the value of a tag in a file, in UTF-16 units. */
export const MAX_TAG_VALUE = 1000;
/** Maximum number of tags on a push element, on each of its readings, on a file row or on a calculation output row. */
export const MAX_TAGS = 50;

const VERSION_KEY = 'version';

/**
 * Adds the VersionTag to the tags under the key `version`. If the tags already contain this key, adds nothing (§9.2
 * rule 1, R-D3).
 */
export function toLabels(version: string | undefined, tags: Tags): Labels {
  const copied = version === undefined || Object.hasOwn(tags, VERSION_KEY) ? tags : { ...tags, [VERSION_KEY]: version };
  return { version, tags: canonicalTags(copied) };
}

/** @returns tags as JSON with the keys in a fixed order, so that equal tags have equal text; null for no tags. */
export function canonicalTags(tags: Tags): string | null {
  const keys = Object.keys(tags).sort();
  return keys.length === 0 ? null : JSON.stringify(Object.fromEntries(keys.map((key) => [key, tags[key]])));
}
