/**
 * Removes from `point` each stored row whose date is written again. With versioning, the row moves to history, unless
 * the new row has the same VersionTag (R-F2). Also deletes replaced and surplus versions from history.
 * Each statement handles the date ranges (date-ranges-rules.ts) of one chunk. `update … from` and `insert … on
 * conflict` would be slower.
 */
import type { Transaction } from '../../platform/database/database.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import type { Micros } from '../point.ts';
import { spanOfAll } from './chunk-rules.ts';
import type { ChunkRanges, DateRanges } from './date-ranges-rules.ts';
import { type Chunk, chunksOf, findChunks, insertTargetOf, type PointTable } from './find-chunks.ts';

// These conditions compare columns with constants. Therefore, TimescaleDB decompresses only those batches of a
// compressed chunk that may hold the rows. Without the conditions, it decompresses the whole chunk: revising a year
// took 6.1 s instead of 0.4 s (measured 2026-11).
const inTouchedBatches = (table: string) => `
    and ${table}.variable_id = any($1::int[]) and ${table}.date between $9::timestamptz and $10::timestamptz`;

// With `offset 0`, the dates and step of a range are computed once per range, not once per stored row.
const RANGES = `(
    select variable_id, timestamptz 'epoch' + from_micros * interval '1 microsecond' as from_date,
           timestamptz 'epoch' + to_micros * interval '1 microsecond' as to_date,
           from_micros = to_micros as is_one_date, step_micros * interval '1 microsecond' as step,
           version_tag_id, version_limit
    from unnest($1::int[], $2::int8[], $3::int8[], $4::int8[], $5::int[], $6::int[])
         dates (variable_id, from_micros, to_micros, step_micros, version_tag_id, version_limit)
    offset 0
  ) dates`;

// $7 and $8 are the bounds of the chunk. They limit the statement to the dates of the chunk. This is necessary because,
// for a compressed chunk, the statement runs on the whole hypertable.
const isInRange = (table: string) => `${table}.variable_id = dates.variable_id
    and ${table}.date between dates.from_date and dates.to_date
    and (dates.is_one_date or date_bin(dates.step, ${table}.date, dates.from_date) = ${table}.date)
    and ${table}.date >= $7::timestamptz and ${table}.date < $8::timestamptz`;

const touched = ({ isCompressed }: StatementTarget, table: string) => (isCompressed ? inTouchedBatches(table) : '');

const removeRanges = (target: StatementTarget) => `
  delete from ${target.target} stored using ${RANGES} where ${isInRange('stored')}${touched(target, 'stored')}`;

// Copies rows to history, except rows with the VersionTag that is being written (R-F2). A single `delete … returning`
// would be slower.
const supersede = (target: StatementTarget, history: string) => `
  insert into ${history} (date, value, version_timestamp, variable_id, version_tag_id, tag_set_id)
  select stored.date, stored.value, stored.version_timestamp, stored.variable_id, stored.version_tag_id,
         stored.tag_set_id
  from ${RANGES}, ${target.target} stored
  where ${isInRange('stored')}${touched(target, 'stored')}
    and (stored.version_tag_id = 0 or stored.version_tag_id <> dates.version_tag_id)`;

const replace = (target: StatementTarget) => `${removeRanges(target)} and stored.version_tag_id = dates.version_tag_id`;

// Finds the variables for which the write replaces a version that was written at or before `history_from`. After the
// write, earlier states of these variables may lack versions (R-F9).
const widenCut = (target: StatementTarget) => `
  select distinct dates.variable_id as "variableId", null::int8 as "historyFromMicros"
  from ${RANGES} join series on series.variable_id = dates.variable_id, ${target.target} stored
  where ${isInRange('stored')}${touched(target, 'stored')} and stored.version_tag_id = dates.version_tag_id
    and stored.version_timestamp <= series.history_from`;

// Finds surplus versions in history: at each date, the oldest versions in excess of the variable's version limit.
// Versions with a VersionTag and versions without one are counted separately. The version in `point` counts, too
// (R-F3).
const surplus = (target: StatementTarget) => `
  with surplus as materialized (
    select dates.variable_id, version.date, version.version_timestamp, version.newer_timestamp
    from ${RANGES}, lateral (
      select date, version_timestamp, version_tag_id <> 0 as is_tagged,
             lag(version_timestamp) over newer as newer_timestamp,
             count(*) filter (where version_tag_id <> 0) over newer as tagged_count,
             count(*) filter (where version_tag_id = 0) over newer as untagged_count
      from ${target.target} stored where ${isInRange('stored')}${touched(target, 'stored')}
      window newer as (partition by date order by version_timestamp desc rows unbounded preceding)
    ) version
    where dates.version_limit < case when version.is_tagged
      then version.tagged_count + (dates.version_tag_id <> 0)::int
      else version.untagged_count + (dates.version_tag_id = 0)::int end
  )`;

// Deletes surplus versions. For each variable with deleted versions, returns the latest instant at which one of them
// was superseded. Before this instant, states of the variable may lack versions (R-F9). The instant is null if the row
// in `point` superseded a deleted version: all states from before the write may then lack versions.
const limit = (target: StatementTarget) => `${surplus(target)}, removed as (
    delete from ${target.target} history using surplus
    where history.variable_id = surplus.variable_id and history.date = surplus.date
      and history.version_timestamp = surplus.version_timestamp
      and history.date >= $7::timestamptz and history.date < $8::timestamptz${touched(target, 'history')}${
        target.isCompressed ? ' and history.version_timestamp between $11::timestamptz and $12::timestamptz' : ''
      }
  )
  select variable_id as "variableId",
         case when bool_and(newer_timestamp is not null)
              then (extract(epoch from max(newer_timestamp)) * 1000000)::int8 end as "historyFromMicros"
  from surplus group by variable_id`;

// Finds the first and last VersionTimestamp of the surplus versions, which the statement `limit` gets as $11 and $12 for
// a compressed chunk. TimescaleDB then decompresses only the batches between these VersionTimestamps.
const surplusSpan = (target: StatementTarget) => `${surplus(target)}
  select min(version_timestamp)::text as "from", max(version_timestamp)::text as "to" from surplus`;

type StatementTarget = Pick<Chunk, 'target' | 'isCompressed'>;

interface RangeStep {
  readonly table: PointTable;
  /**
   * @param target the chunk of `table` that the statement reads or changes.
   * @param history name of the table that receives superseded rows.
   */
  readonly statement: (target: StatementTarget, history: string) => string;
  /**
   * For a compressed chunk, this statement is executed before `statement`. It finds the first and last VersionTimestamp
   * of the rows to delete. When there is no row to delete, `statement` is not executed.
   */
  readonly spanStatement?: (target: StatementTarget) => string;
  /** True: if the statement deletes any row, all its variables are added to `HistoryCuts` (R-F9). */
  readonly isCut?: true;
}

/**
 * By variable id: an instant before which past states of the variable may lack versions because of the write (R-F9).
 * Infinity: all states from before the write may lack versions.
 */
export type HistoryCuts = Map<number, Micros>;

/** For each set in `ChunkRanges`: the statements that handle its ranges, in the order in which they are executed. */
export const RANGE_STEPS: Readonly<Record<keyof ChunkRanges, readonly RangeStep[]>> = {
  // If the statement deletes any row, all its variables are added to `HistoryCuts`, even those that lost no row.
  overwritten: [{ table: 'point', statement: removeRanges, isCut: true }],
  exposed: [
    { table: 'point', statement: widenCut },
    { table: 'point_version', statement: widenCut },
  ],
  forgotten: [{ table: 'point_version', statement: removeRanges }],
  superseded: [
    { table: 'point', statement: supersede },
    { table: 'point', statement: removeRanges },
  ],
  replaced: [{ table: 'point_version', statement: replace }],
  limited: [{ table: 'point_version', statement: limit, spanStatement: surplusSpan }],
};

const NESTED_LOOPS_ONLY =
  'set local enable_hashjoin = off; set local enable_mergejoin = off; set local enable_seqscan = off';
const DEFAULT_JOINS = NESTED_LOOPS_ONLY.replaceAll('= off', '= default');

/**
 * Executes `work` while the planner joins only by nested loops over index scans. Other joins cannot search an
 * index by the dates of a date range.
 */
export async function withNestedLoops<Result>(transaction: Transaction, work: () => Promise<Result>): Promise<Result> {
  await transaction.query(NESTED_LOOPS_ONLY);
  const result = await work();
  await transaction.query(DEFAULT_JOINS);
  return result;
}

/**
 * Deletes the stored rows that a write overwrites, and moves superseded rows to history (§9.2, R-F2, R-F4).
 *
 * @param chunks `WritePlan.chunks`.
 * @param stored all stored chunks that can hold rows with these dates.
 * @param cuts the map that receives the variables whose earlier states may become incomplete (R-F9).
 */
export async function supersedeStored(
  transaction: Transaction,
  chunks: ReadonlyMap<number, ChunkRanges>,
  stored: readonly Chunk[],
  cuts: HistoryCuts,
): Promise<void> {
  await execute(transaction, chunks, ['overwritten', 'forgotten', 'exposed', 'superseded'], cuts, stored);
  // Looks up the stored chunks again, because `superseded` may have created history chunks with rows that `replaced`
  // must delete.
  await execute(transaction, chunks, ['replaced'], cuts);
}

/**
 * Deletes the oldest versions in excess of the variable's version limit, for each date in a chunk's set `limited`
 * (R-F3). Call this function after the new rows of the write are inserted.
 * @param chunks `WritePlan.chunks`.
 * @param cuts the map that receives the variables whose earlier states may become incomplete (R-F9).
 */
export async function limitVersions(
  transaction: Transaction,
  chunks: ReadonlyMap<number, ChunkRanges>,
  cuts: HistoryCuts,
): Promise<void> {
  await execute(transaction, chunks, ['limited'], cuts);
}

async function execute(
  transaction: Transaction,
  chunks: ReadonlyMap<number, ChunkRanges>,
  sets: readonly (keyof ChunkRanges)[],
  cuts: HistoryCuts,
  known?: readonly Chunk[],
): Promise<void> {
  const wanted = [...chunks].filter(([, ranges]) => sets.some((set) => ranges[set].variableIds.length > 0));
  if (wanted.length === 0) return;
  const stored = known ?? (await findChunks(transaction, spanOfAll(wanted.map(([chunkNumber]) => chunkNumber))));
  await withNestedLoops(transaction, async () => {
    for (const [chunkNumber, ranges] of wanted) {
      for (const set of sets.filter((name) => ranges[name].variableIds.length > 0)) {
        for (const step of RANGE_STEPS[set])
          await executeStep(transaction, step, stored, chunkNumber, ranges[set], cuts);
      }
    }
  });
}

async function executeStep(
  transaction: Transaction,
  { table, statement, spanStatement, isCut }: RangeStep,
  stored: readonly Chunk[],
  chunkNumber: number,
  ranges: DateRanges,
  cuts: HistoryCuts,
): Promise<void> {
  for (const chunk of chunksOf(stored, table, chunkNumber)) {
    const history = insertTargetOf(stored, 'point_version', chunk);
    const values = toValues(chunk, ranges);
    if (spanStatement && chunk.isCompressed) {
      const { rows } = await transaction.query<{ from: string | null; to: string }>(spanStatement(chunk), values);
      if (!rows[0]?.from) continue;
      values.push(rows[0].from, rows[0].to);
    }
    const { rows, rowCount } = await transaction.query<Cut>(statement(chunk, history), values);
    for (const { variableId, historyFromMicros } of rows) addCut(cuts, variableId, historyFromMicros ?? Infinity);
    if (isCut && rowCount) for (const variableId of ranges.variableIds) addCut(cuts, variableId, Infinity);
  }
}

interface Cut {
  readonly variableId: number;
  /**
   * Before this instant, states of the variable may lack versions. Null: all states from before this write may lack
   * versions.
   */
  readonly historyFromMicros: Micros | null;
}

function addCut(cuts: HistoryCuts, variableId: number, micros: Micros): void {
  cuts.set(variableId, Math.max(cuts.get(variableId) ?? -Infinity, micros));
}

/**
 * @returns the parameters of a statement of `RANGE_STEPS`: $1 to $6 describe the date ranges, and $7 and $8 are the
 *   bounds of the chunk. For a compressed chunk, $9 and $10 are the earliest and the latest date of all ranges.
 */
export function toValues(
  { fromMicros, toMicros, isCompressed }: Pick<Chunk, 'fromMicros' | 'toMicros' | 'isCompressed'>,
  ranges: DateRanges,
): string[] {
  const columns = [
    ranges.variableIds,
    ranges.fromMicros,
    ranges.toMicros,
    ranges.stepMicros,
    ranges.versionTagIds,
    ranges.versionLimits,
  ];
  const values = [...columns.map((column) => `{${column.join()}}`), formatInstant(fromMicros), formatInstant(toMicros)];
  if (!isCompressed) return values;
  const first = ranges.fromMicros.reduce((least, micros) => Math.min(least, micros), toMicros);
  const last = ranges.toMicros.reduce((greatest, micros) => Math.max(greatest, micros), fromMicros);
  return [...values, formatInstant(first), formatInstant(last)];
}
