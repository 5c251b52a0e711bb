/**
 * The one place that decides which sites, sources and variables a caller reaches (R-B9, R-C3): what reads or pushes takes
 * its lists of ids from here, and asks for the account besides.
 */
import type { Caller, SiteGrant } from './caller.ts';

/** `null`: everything in the account. */
export interface Reach {
  /** Sites with all that is in them. */
  readonly siteIds: readonly number[] | null;
  /** Sources of other sites, with their variables. */
  readonly sourceIds: readonly number[];
  /** Sites to be shown themselves: those, and those of these sources. */
  readonly shownSiteIds: readonly number[] | null;
}

const ALL: Reach = { siteIds: null, sourceIds: [], shownSiteIds: null };

/** What the caller may read. */
export function readReach({ sites }: Pick<Caller, 'sites'>): Reach {
  return sites === 'all' ? ALL : toReach(sites);
}

/** What the caller may push to, where they have the permission to push. */
export function writeReach({ sites }: Pick<Caller, 'sites'>): Reach {
  return sites === 'all' ? ALL : toReach(sites.filter(({ level }) => level !== 'Read'));
}

function toReach(grants: readonly SiteGrant[]): Reach {
  return {
    siteIds: grants.filter(({ sourceIds }) => sourceIds === null).map(({ siteId }) => siteId),
    sourceIds: grants.flatMap(({ sourceIds }) => sourceIds ?? []),
    shownSiteIds: grants.map(({ siteId }) => siteId),
  };
}

/** Whether a source of a site is reached. */
export function reachesSource({ siteIds, sourceIds }: Reach, siteId: number, sourceId: number): boolean {
  return siteIds === null || siteIds.includes(siteId) || sourceIds.includes(sourceId);
}

/**
 * SQL for a row of a source, true where it is reached.
 * @param siteIds parameters that hold the two lists, such as `$2` and `$3`.
 */
export function isReached(siteId: string, sourceId: string, siteIds: string, sourceIds: string): string {
  return `(${siteIds}::int[] is null or ${siteId} = any(${siteIds}::int[]) or ${sourceId} = any(${sourceIds}::int[]))`;
}
