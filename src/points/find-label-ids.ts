import { type Dictionary, NO_ID } from './dictionary.ts';
import type { Labels } from './label-rules.ts';

/**
 * Finds the dictionary ids of labels, and creates an entry for each label that the dictionary lacks (§9.2 rule 2).
 *
 * @param labels all labels that the returned function will be called with.
 * @returns a function from labels to their ids. `versionTagId` is 0 when `version` is undefined; `tagSetId` is 0 when
 *   `tags` is null.
 */
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
