/**
 * Remembers what identifiers mean. What was looked up holds as long as the account's structure has the version it had
 * before the look-up; whoever uses a remembered target says so when it stores, and the store refuses when the version has
 * changed (store-batches.ts). So a change of structure counts from its commit on, in whatever process it was made.
 */
import { LRUCache } from 'lru-cache';
import type { Caller } from '../identity/caller/caller.ts';
import { writeReach } from '../identity/caller/site-reach.ts';
import type { Database } from '../platform/database/database.ts';
import type { TargetIdentifiers } from './body/push-element.ts';
import { keyOfIdentifiers, resolveTargets, type Target, type Unresolved } from './resolve-targets.ts';

export interface ResolvedTargets {
  readonly targets: readonly (Target | Unresolved)[];
  /** The version on which remembered ones depend; null: all were looked up just now. */
  readonly structureVersion: number | null;
}

export interface TargetCache {
  /** What is remembered of them; undefined where something has to be looked up. */
  recall(caller: Caller, elements: readonly TargetIdentifiers[]): ResolvedTargets | undefined;
  /** @param isFresh looks everything up anew. */
  resolve(caller: Caller, elements: readonly TargetIdentifiers[], isFresh: boolean): Promise<ResolvedTargets>;
}

const MAX_ACCOUNTS = 10_000;
const MAX_TARGETS = 200_000;
// One body must not push out what all the others need.
const MAX_REMEMBERED = 20_000;

const FIND_VERSION = 'select coalesce((select version from structure_version where account_id = $1), 0) as version';

export function openTargetCache(database: Database): TargetCache {
  const versions = new LRUCache<number, number>({ max: MAX_ACCOUNTS });
  const remembered = new LRUCache<string, Target | Unresolved>({ max: MAX_TARGETS });

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
    // Before the look-up: of a change in between, the version then remembered is already out of date.
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

/** What is reached is part of it, as others may reach more. No sites at all must not read like every site. */
function scopeOf(caller: Caller, version: number): string {
  const { siteIds, sourceIds } = writeReach(caller);
  return `${caller.accountId}/${version}/${siteIds === null ? 'all' : siteIds.join()}/${sourceIds.join()}/`;
}
