/**
 * Minimal model of versioning (§9.2, R-F1–F8): a variable is a list of versions with date, labels and VersionTimestamp.
 * Tests compare the store with this model, which shares no code with the store.
 */
import { Temporal } from 'temporal-polyfill';
import { before } from '../../scenarios/engine/instants.ts';
import type { Choice, Period, Tags } from '../../scenarios/engine/syntax.ts';
import type { VersionLine } from '../../scenarios/engine/world.ts';

/** A value that a write stores at a date, with its VersionTag and tags. */
export interface ModelEntry {
  readonly dateMicros: number;
  readonly value: number;
  /** VersionTag, null when none. */
  readonly version: string | null;
  readonly tags: Tags;
}

export interface ModelVersion extends ModelEntry {
  readonly versionMicros: number;
}

export interface ModelSettings {
  readonly isVersioned: boolean;
  /**
   * Maximum number of versions at each date. Versions with a VersionTag and versions without one are counted separately
   * (R-F3).
   */
  readonly limit: number;
}

type Versions = readonly ModelVersion[];

/** Among readings of one body that share variable, date and VersionTag, keeps only the last reading (R-D5). */
export function withoutRepeats<Entry extends ModelEntry & { readonly variable: string }>(
  body: readonly Entry[],
): readonly Entry[] {
  const isSame = (a: Entry, b: Entry) =>
    a.variable === b.variable && a.dateMicros === b.dateMicros && a.version === b.version;
  return body.filter((entry, index) => !body.slice(index + 1).some((later) => isSame(entry, later)));
}

/** Adds a version to a date, as specified in §9.2 by the table "Processing result per measurement". */
export function addVersion(versions: Versions, version: ModelVersion, { isVersioned, limit }: ModelSettings): Versions {
  const isOther = ({ dateMicros }: ModelVersion) => dateMicros !== version.dateMicros;
  if (!isVersioned) return [...versions.filter(isOther), { ...version, version: null }];
  const isReplaced = (former: ModelVersion) => version.version !== null && former.version === version.version;
  const kept = versions.filter((former) => isOther(former) || !isReplaced(former));
  return limitVersions([...kept, version], limit, version.dateMicros);
}

/**
 * Keeps, at each date, the newest `limit` versions with a VersionTag and the newest `limit` without one (R-F3).
 * @param dateMicros the only date to limit; undefined means that every date is limited (R-F7).
 */
export function limitVersions(versions: Versions, limit: number, dateMicros?: number): Versions {
  return versions.filter((version) => {
    const isRival = (other: ModelVersion) =>
      other.dateMicros === version.dateMicros &&
      (other.version === null) === (version.version === null) &&
      other.versionMicros > version.versionMicros;
    const isConcerned = dateMicros === undefined || version.dateMicros === dateMicros;
    return !isConcerned || versions.filter(isRival).length < limit;
  });
}

export function isWithin({ fromMicros, toMicros, isToIncluded }: Period, dateMicros: number): boolean {
  if (fromMicros !== undefined && dateMicros < fromMicros) return false;
  return toMicros === undefined || dateMicros < toMicros || (isToIncluded && dateMicros === toMicros);
}

/** A `Choice` that has `knownMicros` instead of `knownAt`. `knownMicros` is the instant that `knownAt` stands for. */
export type ModelChoice = Omit<Choice, 'knownAt'> & { readonly knownMicros?: number };

/**
 * @returns the matching versions, sorted by date and VersionTimestamp: all if `isEvery`, else the last of each date
 * (R-F5, R-G2).
 */
export function choose(versions: Versions, choice: ModelChoice): Versions {
  const counting = versions.filter((version) => counts(version, choice)).sort(byDate);
  if (choice.isEvery) return counting;
  return counting.filter(({ dateMicros }, index) => counting[index + 1]?.dateMicros !== dateMicros);
}

function counts(version: ModelVersion, { knownMicros, horizon, versionTags, tags }: ModelChoice): boolean {
  if (knownMicros !== undefined && version.versionMicros > knownMicros) return false;
  if (horizon) {
    const duration = Temporal.Duration.from(horizon.duration);
    if (version.versionMicros > before(version.dateMicros, duration, horizon.timeZoneId)) return false;
  }
  if (versionTags && !(version.version !== null && versionTags.includes(version.version))) return false;
  return tags?.every(([key, value]) => Object.hasOwn(version.tags, key) && version.tags[key] === value) ?? true;
}

function byDate(a: ModelVersion, b: ModelVersion): number {
  return a.dateMicros - b.dateMicros || a.versionMicros - b.versionMicros;
}

/**
 * @returns for each VersionTag, its number of versions and its first and last VersionTimestamp. The VersionTags are
 * sorted by their last VersionTimestamp, newest first (R-F8).
 */
export function listVersions(versions: Versions): readonly VersionLine[] {
  const names = new Set(versions.map(({ version }) => version));
  const lines = [...names].map((name) => {
    const those = versions.filter(({ version }) => version === name);
    const stamps = those.map(({ versionMicros }) => versionMicros);
    return { version: name, count: those.length, firstMicros: Math.min(...stamps), lastMicros: Math.max(...stamps) };
  });
  return lines.sort((a, b) => b.lastMicros - a.lastMicros || byName(a.version, b.version));
}

/** Compares by VersionTag; versions without one come last. */
function byName(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a < b ? -1 : 1;
}
