/**
 * Decides which sites, sources and variables a caller may read or push to (R-B9, R-C3). Queries filter by the account
 * and, in addition, by the id lists of `Reach`.
 */
import type { Caller, SiteGrant } from './caller.ts';

/** Ids of the sites and sources that a caller may access. */
export interface Reach {
  /** Sites of which the caller may use every source; null means all sites of the account. */
  readonly siteIds: readonly number[] | null;
  /** Individual sources that the caller may use, in addition to the sources of the sites in `siteIds`. */
  readonly sourceIds: readonly number[];
  /** Sites of which the caller may read all or some sources; null means all sites. */
  readonly shownSiteIds: readonly number[] | null;
}

const ALL: Reach = { siteIds: null, sourceIds: [], shownSiteIds: null };

/** Sites and sources the caller may read (R-B9). */
export function readReach({ sites }: Pick<Caller, 'sites'>): Reach {
  return sites === 'all' ? ALL : toReach(sites);
}

/** Sites and sources to which the caller has write access; the permission to push is checked elsewhere (R-C3). */
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

/** @returns true when the reach includes the source or the site of the source (R-B9). */
export function reachesSource({ siteIds, sourceIds }: Reach, siteId: number, sourceId: number): boolean {
  return siteIds === null || siteIds.includes(siteId) || sourceIds.includes(sourceId);
}

/**
 * SQL condition on a row of a source: true when the caller's `Reach` includes the source or the site of the source
 * (R-B9).
 * @param siteId column with the id of the source's site.
 * @param sourceId column with the id of the source.
 * @param siteIds parameter that holds `Reach.siteIds`, such as `$2`.
 * @param sourceIds parameter that holds `Reach.sourceIds`, such as `$3`.
 */
export function isReached(siteId: string, sourceId: string, siteIds: string, sourceIds: string): string {
  return `(${siteIds}::int[] is null or ${siteId} = any(${siteIds}::int[]) or ${sourceId} = any(${sourceIds}::int[]))`;
}
