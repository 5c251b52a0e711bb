/** The VersionTag and tags of a point before they become dictionary ids. Used by push, files and calculations. */

export type Tags = Readonly<Record<string, string>>;

export interface Labels {
  readonly version: string | undefined;
  /** Canonical JSON, null when there are none. */
  readonly tags: string | null;
}

const VERSION_KEY = 'version';

/** The version is copied into the tags under `version`, unless that key is taken (§9.2 rule 1, R-D3). */
export function toLabels(version: string | undefined, tags: Tags): Labels {
  const copied = version === undefined || Object.hasOwn(tags, VERSION_KEY) ? tags : { ...tags, [VERSION_KEY]: version };
  return { version, tags: canonicalTags(copied) };
}

/** Tags as JSON with sorted keys, so that equal tags have one text; null when there are none. */
export function canonicalTags(tags: Tags): string | null {
  const keys = Object.keys(tags).sort();
  return keys.length === 0 ? null : JSON.stringify(Object.fromEntries(keys.map((key) => [key, tags[key]])));
}
