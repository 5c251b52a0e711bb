/** Selects the versions of an input by the members of a read (R-G2), in the zone of the input's source. */
import type { Queryable } from '../../platform/database/database.ts';
import type { VersionChoice } from '../../points/point.ts';
import { CURRENT, parseDuration, parseRelative } from '../../selection/duration-rules.ts';
import { resolveVersion } from '../../selection/resolve-version.ts';
import { type InputDeclaration, instantMicros } from '../declaration/declaration.ts';

export function chooseVersion(
  queryable: Queryable,
  { version, asOf, relativeVersion, horizon, tags }: InputDeclaration,
  timeZoneId: string,
): Promise<VersionChoice> {
  const relative = relativeVersion ? parseRelative(relativeVersion) : undefined;
  return resolveVersion(queryable, {
    versionTags: version ? [version].flat() : [],
    asOfMicros: instantMicros(asOf),
    relative: relative === CURRENT ? undefined : relative,
    horizon: horizon ? parseDuration(horizon) : undefined,
    tags: tags ? [tags].flat().map(toPair) : [],
    timeZoneId,
  });
}

function toPair(tag: string): readonly [key: string, value: string] {
  const colon = tag.indexOf(':');
  return [tag.slice(0, colon), tag.slice(colon + 1)];
}
