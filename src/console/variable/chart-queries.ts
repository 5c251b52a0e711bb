/** Queries of a chart: bounds and versions of a variable, and the points of each line in the shown range. */
import { keepPreviousData, queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../api/client.ts';
import {
  type Bounds,
  type Points,
  pointQuery,
  RAW_LIMIT,
  type Range,
  type Resolution,
  type Side,
  spacingOf,
} from './chart-rules.ts';
import { loadPoints, loadVersionInstants } from './points.ts';

/** Maximum number of stops of the slider. A stop is an instant at which a version arrived. */
const MAX_STOPS = 300;
/** If more points than this are estimated for the range, the slider gets no stops for the versions of the points. */
const MAX_POINTS_FOR_STOPS = 12_000;

/** The spacing of a variable's points is estimated from at most this number of its last points. */
const MAX_LAST = 100;

/** @returns a query for the bounds of a variable's points; the bounds are null when the variable has no points. */
export function boundsQuery(variableId: number) {
  return queryOptions({
    queryKey: ['bounds', variableId],
    queryFn: async (): Promise<Bounds | null> => {
      const some = { variableIds: [variableId], pageNumber: 0 };
      const [first, last] = await Promise.all([
        bodyOf(api.GET('/data', { params: { query: { ...some, itemsPerPage: 1, pagingOrder: 'ASC' } } })),
        bodyOf(api.GET('/data', { params: { query: { ...some, itemsPerPage: MAX_LAST, pagingOrder: 'DESC' } } })),
      ]);
      if (!first[0] || !last[0]) return null;
      const dates = last.map(({ date }) => Date.parse(date) / 1000);
      return { from: Date.parse(first[0].date) / 1000, to: Math.max(...dates), spacingSec: spacingOf(dates) };
    },
  });
}

/** @returns a query for the VersionTags of a variable. */
export function useVersions(variableId: number) {
  return useQuery({
    queryKey: ['versions', variableId],
    queryFn: () => bodyOf(api.GET('/variables/{id}/versions', { params: { path: { id: variableId } } })),
  });
}

export interface ChartPoints {
  readonly variableId: number;
  readonly side: Side;
  readonly points: Points;
  /** Least and greatest value of each bucket; undefined for raw points, and for a line without a band. */
  readonly band: { readonly min: Points; readonly max: Points } | undefined;
}

/** What one line of the chart shows: the variable, the versions of its points (`side`), and whether a band is drawn. */
export interface WantedPoints {
  readonly variableId: number;
  readonly side: Side;
  readonly hasBand: boolean;
}

/** Reads the points of every line of the chart. */
export function useChartPoints(
  wanted: readonly WantedPoints[],
  range: Range,
  resolution: Resolution,
  timeZone: string,
) {
  return useQueries({
    queries: wanted.map(({ variableId, side, hasBand }) => ({
      queryKey: ['points', variableId, range.from, range.to, side, resolution, hasBand, timeZone],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<ChartPoints> => {
        const query = pointQuery(variableId, range, side, resolution, timeZone);
        const [points, ...extremes] = await Promise.all([
          loadPoints(query, signal),
          ...(hasBand && resolution !== 'Raw'
            ? ['MIN', 'MAX'].map((aggregation) => loadPoints({ ...query, aggregation }, signal))
            : []),
        ]);
        const [min, max] = extremes;
        return { variableId, side, points, band: min && max && { min, max } };
      },
    })),
  });
}

/**
 * @param live instants at which versions have arrived since the chart was opened.
 * @returns the stops of the slider, ascending, as ISO 8601: the instants in `live`, and the arrivals of the first and
 * last version of each VersionTag. Versions without a VersionTag count as one more tag. When `isWanted` is true and the
 * range has few points, the arrivals of all versions of these points are stops too. When there are more than MAX_STOPS
 * stops, MAX_STOPS of them are returned, spread evenly over the list.
 */
export function useStops(
  variableId: number,
  range: Range,
  stepSec: number,
  live: readonly string[],
  isWanted: boolean,
) {
  const versions = useVersions(variableId);
  const isFew = (range.to - range.from) / stepSec <= Math.min(MAX_POINTS_FOR_STOPS, RAW_LIMIT);
  const instants = useQuery({
    queryKey: ['stops', variableId, range.from, range.to],
    queryFn: ({ signal }) => loadVersionInstants(pointQuery(variableId, range, 'latest', 'Raw'), signal),
    enabled: isWanted && isFew,
    placeholderData: keepPreviousData,
  });
  const tagged = (versions.data ?? []).flatMap(({ firstVersionTimestamp, lastVersionTimestamp }) => [
    firstVersionTimestamp,
    lastVersionTimestamp,
  ]);
  // The slider stops only at whole milliseconds. A VersionTimestamp is rounded up: at a stop that is rounded down, the
  // version would not exist yet. If the range has too many points, `instants` is not loaded again and may still hold
  // the data of an earlier range, so `instants` is ignored.
  const seen = (isFew ? (instants.data ?? []) : []).map((seconds) => new Date(Math.ceil(seconds * 1000)).toISOString());
  const all = [...new Set([...[...tagged, ...live].map(ceilMillis), ...seen])].sort();
  return thin(all);
}

function ceilMillis(instant: string): string {
  const millis = Date.parse(instant);
  return new Date(/\.\d{4,}/.test(instant) ? millis + 1 : millis).toISOString();
}

function thin(stops: readonly string[]): readonly string[] {
  if (stops.length <= MAX_STOPS) return stops;
  const every = (stops.length - 1) / (MAX_STOPS - 1);
  return Array.from({ length: MAX_STOPS }, (_, index) => stops[Math.round(index * every)] as string);
}
