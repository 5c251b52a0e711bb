/** Plans the calls that export a chart. Pure. */
import {
  compareQuery,
  pointQuery,
  type Range,
  type Resolution,
  type Selection,
  type Side,
  sidesOf,
  toInstant,
} from '../chart-rules.ts';

/** A call of the API; its answer is one file. */
export interface Export {
  readonly path: '/data' | '/data/compare';
  readonly query: Readonly<Record<string, string | number | undefined>>;
  /** Part of the file name that distinguishes the files of a chart; undefined when there is only one file. */
  readonly part: string | undefined;
}

export interface Shown {
  readonly variableId: number;
  /** Further variables in the chart. */
  readonly others: readonly number[];
  readonly selection: Selection;
  readonly range: Range;
  readonly resolution: Resolution;
  readonly timeZone: string;
}

/**
 * @returns the calls that export the chart:
 * - Labels: one call for each label, so that each file has at most one version per date. Without labels, one call for
 *   the latest versions.
 * - A comparison: one call for both sides.
 * - The latest versions: one call for all variables.
 * - The versions known at an instant: one call that reads all variables as of this instant. The chart's line of the
 *   latest versions is not exported.
 *
 * For labels and comparisons, one more call reads the latest versions of the other variables, if there are any.
 * @param now the current instant as ISO 8601. If a comparison has the latest versions on its left side, they are read
 *   as of `now`.
 */
export function toExports(
  { variableId, others, selection, range, resolution, timeZone }: Shown,
  now: string,
): Export[] {
  const read = (ids: readonly number[], side: Side, part: string | undefined): Export => ({
    path: '/data',
    query: {
      ...pointQuery(variableId, range, side, resolution, timeZone),
      variableIds: ids.join(','),
      timeZoneId: timeZone,
    },
    part,
  });
  const sides = sidesOf(selection);
  const [first = 'latest'] = sides;
  if (selection.kind === 'latest' || selection.kind === 'known')
    return [read([variableId, ...others], first, undefined)];
  const own =
    selection.kind === 'compare' ? [compare(selection)] : sides.map((side) => read([variableId], side, nameOf(side)));
  const all = others.length === 0 ? own : [...own, read(others, 'latest', 'others')];
  return all.length === 1 ? all.map((only) => ({ ...only, part: undefined })) : all;

  function compare({ left, right }: { readonly left: Side; readonly right: Side }): Export {
    const between = { from: toInstant(range.from), to: toInstant(range.to) };
    return {
      path: '/data/compare',
      query: { variableId, ...between, ...compareQuery(left, right, now), timeZoneId: timeZone },
      part: 'compare',
    };
  }
}

function nameOf(side: Side): string {
  return side.startsWith('label:') ? side.slice('label:'.length) : side;
}
