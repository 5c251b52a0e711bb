/**
 * Reads the versions that were committed after a follower's last read (R-J1), if they are still stored. Writers of a
 * variable take turns and assign increasing VersionTimestamps, so a follower only needs to know the VersionTimestamp
 * and the date of the last version that it has read.
 *
 * VersionTimestamps have no index. How `findChanges` finds the dates of a write depends on the write:
 * - A write that only appended: all dates after the last date that the follower knows.
 * - Any other write: the dates that the write recorded (write/record-rewrites.ts).
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

/**
 * Position of a follower in a variable: the follower has all versions before `versionTimestamp`, and the versions at
 * `versionTimestamp` with dates up to `dateMicros`, inclusive. Both members may be infinite.
 */
export interface ChangePosition {
  readonly versionTimestamp: Micros;
  readonly dateMicros: Micros;
}

/** A range of dates; both ends are inclusive. */
interface Period {
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
}

/** A variable that may have new versions, and the periods that can contain them. */
export interface ChangedVariable {
  readonly variableId: number;
  readonly since: ChangePosition;
  /** Changed periods, ascending and disjoint. */
  readonly periods: readonly Period[];
  /** Greatest VersionTimestamp assigned to the variable. */
  readonly lastVersionTimestamp: Micros;
}

// Maximum number of periods of a variable. If a variable has more periods, one long period replaces all of them,
// because each period needs an index scan.
const MAX_PERIODS = 100;

const MICROS = (instant: string) =>
  `case when isfinite(${instant}) then (extract(epoch from ${instant}) * 1000000)::int8 end`;

// A follower whose `seen` is -infinity has seen no version, so all dates are new for this follower.
export const FIND_CHANGES = `
  select wanted.id as "variableId", ${MICROS('series.last_version_timestamp')} as "lastVersionTimestamp", changed.periods
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
  ) changed`;

interface ChangeRow {
  readonly variableId: number;
  readonly lastVersionTimestamp: Micros | null;
  readonly periods: readonly (readonly [from: Micros | null, to: Micros | null])[];
}

/**
 * Finds the variables that may have versions after a follower's positions (R-J1).
 * @param queryable transaction in which `readChanges` is called next. Both functions must see the same snapshot.
 * @param positions the follower's positions, by variable id.
 */
export async function findChanges(
  queryable: Queryable,
  positions: ReadonlyMap<number, ChangePosition>,
): Promise<readonly ChangedVariable[]> {
  const seen = [...positions.values()];
  const { rows } = await queryable.query<ChangeRow>(FIND_CHANGES, [
    [...positions.keys()],
    seen.map(({ versionTimestamp }) => instantBound(versionTimestamp)),
    seen.map(({ dateMicros }) => instantBound(dateMicros)),
  ]);
  return rows.flatMap(({ variableId, lastVersionTimestamp, periods }) => {
    const since = positions.get(variableId);
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

/**
 * Groups variables whose changes have the same first and the same last chunk. One statement reads a group, so its plan
 * contains only these two chunks and the chunks between them (R-J1).
 */
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
 * Streams the new versions of a group of variables, variable by variable (R-J1). The versions of each variable are
 * sorted by VersionTimestamp, then by date.
 * @param transaction the transaction of `findChanges`; its connection is busy until the stream ends.
 * @param scales the unit conversion of each variable, by variable id.
 * @returns chunks of one variable each.
 * @throws {DomainError} invalid_input when a converted value exceeds the range of a double.
 */
export async function* readChanges(
  transaction: Transaction,
  group: readonly ChangedVariable[],
  scales?: ReadonlyMap<number, LinearScale>,
): AsyncGenerator<PointChunk> {
  await streamFromIndexes(transaction);
  // Allows sorts again. `streamFromIndexes` forbids sorts, but no index has the order of VersionTimestamps.
  await transaction.query('set local enable_sort = on');
  for await (const block of copyRows(transaction, selectChanges(group), POINT_LAYOUT)) {
    for (const run of runsOf(block)) yield toPointChunk(block, run, scales?.get(run.variableId));
  }
}

/** @returns the SQL statement that `readChanges` runs for a group of variables (R-J1). */
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

/** @returns the last VersionTimestamp by variable id; a variable that was never written has no entry (R-J1). */
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
