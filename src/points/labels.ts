/** The VersionTag and tags of a point before they become dictionary ids. Used by push, files and calculations. */
import { canonicalTags, type Dictionary, NO_ID, type Tags } from './dictionary.ts';

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

/** Turns labels into dictionary ids, creating what is new. */
export async function findLabelIds(
  dictionary: Dictionary,
  accountId: number,
  labels: Iterable<Labels>,
): Promise<(labels: Labels) => { readonly versionTagId: number; readonly tagSetId: number }> {
  const versions = new Set<string>();
  const tagSets = new Set<string>();
  for (const { version, tags } of labels) {
    if (version !== undefined) versions.add(version);
    if (tags !== null) tagSets.add(tags);
  }
  const versionTagIds = await dictionary.versionTagIds(accountId, versions);
  const tagSetIds = await dictionary.tagSetIds(accountId, tagSets);
  return ({ version, tags }) => ({
    versionTagId: (version === undefined ? undefined : versionTagIds.get(version)) ?? NO_ID,
    tagSetId: (tags === null ? undefined : tagSetIds.get(tags)) ?? NO_ID,
  });
}
