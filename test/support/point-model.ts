/**
 * What versioning means (§9.2, R-F1–F5), as simply as it can be said: one list of versions per date, oldest first.
 * The store is compared with it; it shares nothing with the code it judges.
 */

export interface ModelWrite {
  readonly date: number;
  readonly value: number;
  /** VersionTag, null when none. */
  readonly tag: string | null;
}

export interface ModelVersion extends ModelWrite {
  /** Place in the order of all writes: the model's VersionTimestamp. */
  readonly order: number;
}

export interface ModelSettings {
  readonly isVersioned: boolean;
  readonly versionLimit: number;
}

/** Versions per date, oldest first. */
export type ModelPoints = ReadonlyMap<number, readonly ModelVersion[]>;

export function applyWrites(
  points: ModelPoints,
  writes: readonly ModelWrite[],
  settings: ModelSettings,
  firstOrder: number,
): ModelPoints {
  const changed = new Map(points);
  for (const [index, write] of writes.entries()) {
    const version = { ...write, order: firstOrder + index };
    changed.set(write.date, addVersion(changed.get(write.date) ?? [], version, settings));
  }
  return changed;
}

function addVersion(
  versions: readonly ModelVersion[],
  version: ModelVersion,
  { isVersioned, versionLimit }: ModelSettings,
): readonly ModelVersion[] {
  if (!isVersioned) return [{ ...version, tag: null }];
  const others = versions.filter(({ tag }) => version.tag === null || tag !== version.tag);
  const all = [...others, version];
  const kept = new Set([
    ...all.filter(({ tag }) => tag !== null).slice(-versionLimit),
    ...all.filter(({ tag }) => tag === null).slice(-versionLimit),
  ]);
  return all.filter((candidate) => kept.has(candidate));
}

/** Per date in ascending order, the latest of the versions that count. */
export function latestVersions(
  points: ModelPoints,
  counts: (version: ModelVersion) => boolean = () => true,
): readonly ModelVersion[] {
  const dates = [...points.keys()].sort((a, b) => a - b);
  return dates.flatMap((date) => points.get(date)?.filter(counts).at(-1) ?? []);
}
