/**
 * What was committed to variables since a reader looked last (R-J1), in order of VersionTimestamp, superseded versions that
 * are kept included. A reader's place in a variable is the VersionTimestamp and date up to which it has everything: writers
 * of a variable follow one another under its lock, each with a later VersionTimestamp, so whatever is not visible yet is
 * later than all that is, and no commit can slip in behind a place. No clock is relied on, and places outlive the database's
 * restarts.
 *
 * Where to look is known without a search: dates that were only appended lie behind the last date that was there before,
 * for every row at or behind an appended one was written with it or later; all other writes leave a note
 * (write/record-rewrites.ts). Both hold as well for a place in the middle of a write that only appended; a write that gave a
 * date several versions leaves a note.
 */
import type { Queryable, Transaction } from '../../platform/database/database.ts';
import type { LinearScale, Micros, PointChunk } from '../point.ts';
import { chunkOf } from '../write/chunk-rules.ts';
import { copyRows } from './copy-rows.ts';
import { POINT_COLUMNS, POINT_LAYOUT, toPointChunk } from './read-points.ts';
import { runsOf } from './row-codec.ts';
import { streamFromIndexes } from './select-of-variables.ts';
import { ALL_COLUMNS } from './select-versions.ts';
import { instantArrayLiteral, instantBound, instantLiteral, integerArrayLiteral } from './sql-literal.ts';

/** Everything is known up to a VersionTimestamp, and with that one itself up to a date; both inclusive, infinite for none or all. */
export interface ChangePosition {
  readonly versionTimestamp: Micros;
  readonly dateMicros: Micros;
}

/** Dates, both ends inclusive. */
interface Period {
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
}

/** A variable with something new, and where that can be. */
export interface ChangedVariable {
  readonly variableId: number;
  readonly since: ChangePosition;
  /** Ascending, apart from one another. */
  readonly periods: readonly Period[];
  /** Greatest VersionTimestamp it was given. */
  readonly lastVersionTimestamp: Micros;
}

// Each is a walk of its own through the indexes; beyond so many they are looked through as one.
const MAX_PERIODS = 100;

const MICROS = (instant: string) =>
  `case when isfinite(${instant}) then (extract(epoch from ${instant}) * 1000000)::int8 end`;

// Without a VersionTimestamp seen there is no last date seen either: all dates are later.
export const FIND_CHANGES = `
  select wanted.id as "variableId", ${MICROS('series.last_version_timestamp')} as "lastVersionTimestamp", look.periods
  from unnest($1::int[], $2::timestamptz[], $3::timestamptz[]) wanted (id, seen, seen_date)
  join series on series.variable_id = wanted.id
    and (series.last_version_timestamp > wanted.seen or wanted.seen_date < 'infinity')
  left join lateral (
    select date from point
    where point.variable_id = wanted.id and wanted.seen > '-infinity'
      and (version_timestamp, date) <= (wanted.seen, wanted.seen_date)
    order by date desc limit 1
  ) last_seen on true
  cross join lateral (
    select json_agg(json_build_array(${MICROS('lower(period)')}, ${MICROS('upper(period)')}) order by period) as periods
    from unnest((
      select range_agg(written) from (
        select tstzrange(coalesce(last_seen.date, '-infinity'), greatest(last_seen.date, series.max_date), '[]') as written
        union all
        select tstzrange(from_date, to_date, '[]') from point_rewrite
        where variable_id = wanted.id and wanted.seen > '-infinity' and version_timestamp >= wanted.seen
          and (version_timestamp > wanted.seen or wanted.seen_date < 'infinity')
      ) writes
    )) period
  ) look`;

interface ChangeRow {
  readonly variableId: number;
  readonly lastVersionTimestamp: Micros | null;
  readonly periods: readonly (readonly [from: Micros | null, to: Micros | null])[];
}

/**
 * Which of the variables have something new behind the reader's places.
 * @param queryable for `readChanges`, its transaction.
 */
export async function findChanges(
  queryable: Queryable,
  places: ReadonlyMap<number, ChangePosition>,
): Promise<readonly ChangedVariable[]> {
  const seen = [...places.values()];
  const { rows } = await queryable.query<ChangeRow>(FIND_CHANGES, [
    [...places.keys()],
    seen.map(({ versionTimestamp }) => instantBound(versionTimestamp)),
    seen.map(({ dateMicros }) => instantBound(dateMicros)),
  ]);
  return rows.flatMap(({ variableId, lastVersionTimestamp, periods }) => {
    const since = places.get(variableId);
    if (!since || lastVersionTimestamp === null) return [];
    return { variableId, since, lastVersionTimestamp, periods: joinMany(periods.map(toPeriod)) };
  });
}

function toPeriod([from, to]: ChangeRow['periods'][number]): Period {
  return { fromMicros: from ?? Number.NEGATIVE_INFINITY, toMicros: to ?? Number.POSITIVE_INFINITY };
}

function joinMany(periods: readonly Period[]): readonly Period[] {
  if (periods.length <= MAX_PERIODS) return periods;
  return [hullOf(periods)];
}

function hullOf(periods: readonly Period[]): Period {
  return {
    fromMicros: Math.min(...periods.map(({ fromMicros }) => fromMicros)),
    toMicros: Math.max(...periods.map(({ toMicros }) => toMicros)),
  };
}

/** Variables whose news lie in the same chunks: one statement, which plans no others. */
export function groupChanges(changes: readonly ChangedVariable[]): readonly (readonly ChangedVariable[])[] {
  const groups = new Map<string, ChangedVariable[]>();
  for (const change of changes) {
    const { fromMicros, toMicros } = hullOf(change.periods);
    const key = `${chunkOf(fromMicros)} ${chunkOf(toMicros)}`;
    const group = groups.get(key);
    if (group) group.push(change);
    else groups.set(key, [change]);
  }
  return [...groups.values()];
}

/**
 * Streams the news of a group, variable by variable, each by VersionTimestamp and date.
 * @param transaction the snapshot in which they were found. It can do nothing else while this runs.
 */
export async function* readChanges(
  transaction: Transaction,
  group: readonly ChangedVariable[],
  scales?: ReadonlyMap<number, LinearScale>,
): AsyncGenerator<PointChunk> {
  await streamFromIndexes(transaction);
  // Unlike dates, VersionTimestamps are not in the order of an index.
  await transaction.query('set local enable_sort = on');
  for await (const block of copyRows(transaction, selectChanges(group), POINT_LAYOUT)) {
    for (const run of runsOf(block)) yield toPointChunk(block, run, scales?.get(run.variableId));
  }
}

/** The statement of `readChanges`. */
export function selectChanges(group: readonly ChangedVariable[]): string {
  const periods = group.flatMap((change) => change.periods);
  const hull = hullOf(periods);
  const ends: number[] = [];
  for (const change of group) ends.push((ends.at(-1) ?? 0) + change.periods.length);
  const arrays = [
    integerArrayLiteral(group.map(({ variableId }) => variableId)),
    instantArrayLiteral(group.map(({ since }) => since.versionTimestamp)),
    instantArrayLiteral(group.map(({ since }) => since.dateMicros)),
    integerArrayLiteral(ends.map((end, index) => end - (group[index]?.periods.length ?? 0) + 1)),
    integerArrayLiteral(ends),
  ];
  const from = instantArrayLiteral(periods.map(({ fromMicros }) => fromMicros));
  const to = instantArrayLiteral(periods.map(({ toMicros }) => toMicros));
  const within = `date >= ${instantLiteral(hull.fromMicros)} and date <= ${instantLiteral(hull.toMicros)}`;
  const newIn = (table: string) => `
        select ${ALL_COLUMNS} from ${table}
        where variable_id = variable.id and date >= period.from_date and date <= period.to_date and ${within}
          and (version_timestamp, date) > (variable.seen, variable.seen_date)`;
  return `
  select ${POINT_COLUMNS}
  from unnest(${arrays.join(', ')}) variable (id, seen, seen_date, first_period, last_period)
  cross join lateral (
    select version.* from unnest((${from})[first_period:last_period], (${to})[first_period:last_period])
      period (from_date, to_date)
    cross join lateral (${newIn('point')}
        union all ${newIn('point_version')}
    ) version
    order by version.version_timestamp, version.date
  ) wanted`;
}

/** Up to which VersionTimestamp each variable has been written; none where nothing ever was. */
export async function findLastVersions(
  queryable: Queryable,
  variableIds: readonly number[],
): Promise<ReadonlyMap<number, Micros>> {
  const { rows } = await queryable.query<{ id: number; micros: Micros }>(
    `select variable_id as id, (extract(epoch from last_version_timestamp) * 1000000)::int8 as micros
     from series where variable_id = any($1::int[]) and last_version_timestamp > '-infinity'`,
    [variableIds],
  );
  return new Map(rows.map(({ id, micros }) => [id, micros]));
}
