/**
 * The VersionTag and tags of every reading (R-D3, §9.2): the reading's version wins over the element's; the reading's
 * tags add to the element's and never replace one; the version is copied into the tags unless that key is taken.
 */
import { canonicalTags, type Dictionary, NO_ID, type Tags } from '../points/dictionary.ts';
import type { PushElement, Reading } from './push-element.ts';

export interface Labels {
  readonly version: string | undefined;
  /** Canonical JSON, null when there are none. */
  readonly tags: string | null;
}

const VERSION_KEY = 'version';

/** What `readings` of `element` are labelled with. Those without labels of their own share one object. */
export function labelReadings({ version, tags, readings }: PushElement): (reading: Reading) => Labels {
  const shared = readings.some(isPlain) ? toLabels(version, tags ?? {}) : undefined;
  return (reading) => {
    if (shared && isPlain(reading)) return shared;
    return toLabels(reading.version ?? version, { ...reading.tags, ...tags });
  };
}

function isPlain(reading: Reading): boolean {
  return reading.version === undefined && reading.tags === undefined;
}

function toLabels(version: string | undefined, tags: Tags): Labels {
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
