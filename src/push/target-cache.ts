/**
 * LRU cache of resolved targets. A cached target is valid for one version of the account's structure. The statement
 * that stores a push refuses targets of an older version (store/store-batches.ts).
 */

import type { Caller } from '../identity/caller/caller.ts';
import { writeReach } from '../identity/caller/site-reach.ts';
import { openBoundedCache } from '../platform/bounded-cache.ts';
import type { Database } from '../platform/database/database.ts';
import type { TargetIdentifiers } from './body/push-element.ts';
import { keyOfIdentifiers, resolveTargets, type Target, type Unresolved } from './resolve-targets.ts';

export interface ResolvedTargets {
  readonly targets: readonly (Target | Unresolved)[];
  /** Structure version for which the targets were cached; null when the targets do not come from the cache. */
  readonly structureVersion: number | null;
}

export interface TargetCache {
  /** @returns the cached targets of all elements; undefined when at least one target is not cached. */
  recall(caller: Caller, elements: readonly TargetIdentifiers[]): ResolvedTargets | undefined;
  /** Finds the variable that each element names. @param isFresh true to read the database, not the cache. */
  resolve(caller: Caller, elements: readonly TargetIdentifiers[], isFresh: boolean): Promise<ResolvedTargets>;
}

const MAX_ACCOUNTS = 10_000;
const MAX_TARGETS = 200_000;
// The targets of a body with more elements than this are not cached: one body must not evict all other targets.
const MAX_REMEMBERED = 20_000;

const FIND_VERSION = 'select coalesce((select version from structure_version where account_id = $1), 0) as version';

/** Opens an empty cache. Entries are valid for one structure version of their account (R-D2). */
export function openTargetCache(database: Database): TargetCache {
  const versions = openBoundedCache<number, number>(MAX_ACCOUNTS);
  const remembered = openBoundedCache<string, Target | Unresolved>(MAX_TARGETS);

  const recall = (caller: Caller, elements: readonly TargetIdentifiers[]): ResolvedTargets | undefined => {
    const structureVersion = versions.get(caller.accountId);
    if (structureVersion === undefined) return undefined;
    const scope = scopeOf(caller, structureVersion);
    const targets: (Target | Unresolved)[] = [];
    for (const identifiers of elements) {
      const target = remembered.get(scope + keyOfIdentifiers(identifiers));
      if (target === undefined) return undefined;
      targets.push(target);
    }
    return { targets, structureVersion };
  };

  const lookUp = async (caller: Caller, elements: readonly TargetIdentifiers[]): Promise<ResolvedTargets> => {
    // Reads the version before the targets. If the structure changes in between, the cached targets then count as
    // stale.
    const { rows } = await database.query<{ version: number }>(FIND_VERSION, [caller.accountId]);
    const version = rows[0]?.version ?? 0;
    const { accountId } = caller;
    const targets = await resolveTargets(database, { accountId, reach: writeReach(caller) }, elements);
    if (elements.length <= MAX_REMEMBERED) {
      const scope = scopeOf(caller, version);
      versions.set(caller.accountId, version);
      for (const [index, target] of targets.entries()) {
        remembered.set(scope + keyOfIdentifiers(elements[index] ?? {}), target);
      }
    }
    return { targets, structureVersion: null };
  };

  return {
    recall,
    resolve: async (caller, elements, isFresh) =>
      (isFresh ? undefined : recall(caller, elements)) ?? lookUp(caller, elements),
  };
}

/**
 * Returns the prefix of the cache keys. The prefix differs by account, structure version and write access. A caller
 * without sites must get a different prefix from a caller with access to all sites.
 */
function scopeOf(caller: Caller, version: number): string {
  const { siteIds, sourceIds } = writeReach(caller);
  return `${caller.accountId}/${version}/${siteIds === null ? 'all' : siteIds.join()}/${sourceIds.join()}/`;
}
