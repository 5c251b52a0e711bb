/**
 * What stored rows become when their dates are written again: they go (not versioned) or become history (versioned).
 * Each statement takes runs of dates (stored-runs-rules.ts) of one chunk and looks every run up in the key of the
 * hypertable. Measured on a million quarter-hours of 1,000 variables (2026-11): delete and COPY take 2.5 s where
 * `update … from` takes 4.3 s and `insert … on conflict` 5.5 s.
 */
import type { Transaction } from '../platform/database.ts';
import { CHUNK_MICROS } from './chunk-rules.ts';
import { formatInstant } from './instant-rules.ts';
import type { ChunkRuns, Runs } from './stored-runs-rules.ts';

// "offset 0": instants are made once per run, not once per row met. $7 and $8, the bounds of the chunk, let the planner
// leave out all others.
const RUNS = `(
    select variable_id, timestamptz 'epoch' + from_micros * interval '1 microsecond' as from_date,
           timestamptz 'epoch' + to_micros * interval '1 microsecond' as to_date,
           from_micros = to_micros as is_one_date, step_micros * interval '1 microsecond' as step,
           version_tag_id, version_limit
    from unnest($1::int[], $2::int8[], $3::int8[], $4::int8[], $5::int[], $6::int[])
         run (variable_id, from_micros, to_micros, step_micros, version_tag_id, version_limit)
    offset 0
  ) run`;

const isInRun = (table: string) => `${table}.variable_id = run.variable_id
    and ${table}.date between run.from_date and run.to_date
    and (run.is_one_date or date_bin(run.step, ${table}.date, run.from_date) = ${table}.date)
    and ${table}.date >= $7::timestamptz and ${table}.date < $8::timestamptz`;

const OVERWRITE = `delete from point stored using ${RUNS} where ${isInRun('stored')}`;

const FORGET = `delete from point_version stored using ${RUNS} where ${isInRun('stored')}`;

// What carries the VersionTag that is written now does not become history: it is replaced (R-F2). The rows are then
// overwritten: taking them from a `delete … returning` is slower, it keeps them on disk in between.
const SUPERSEDE = `
  insert into point_version (date, value, version_timestamp, variable_id, version_tag_id, tag_set_id)
  select stored.date, stored.value, stored.version_timestamp, stored.variable_id, stored.version_tag_id,
         stored.tag_set_id
  from ${RUNS}, point stored
  where ${isInRun('stored')}
    and (stored.version_tag_id = 0 or stored.version_tag_id <> run.version_tag_id)`;

const REPLACE = `
  delete from point_version stored using ${RUNS}
  where ${isInRun('stored')} and stored.version_tag_id = run.version_tag_id`;

// Counted from the newest; the version written now, of the run's kind, is the first of its kind (R-F3).
const LIMIT = `
  delete from point_version history using ${RUNS}, lateral (
    select date, version_timestamp, version_tag_id <> 0 as is_tagged,
           count(*) filter (where version_tag_id <> 0) over newer as tagged_count,
           count(*) filter (where version_tag_id = 0) over newer as untagged_count
    from point_version stored where ${isInRun('stored')}
    window newer as (partition by date order by version_timestamp desc rows unbounded preceding)
  ) version
  where history.variable_id = run.variable_id and history.date = version.date
    and history.version_timestamp = version.version_timestamp
    and history.date >= $7::timestamptz and history.date < $8::timestamptz
    and run.version_limit < case when version.is_tagged
      then version.tagged_count + (run.version_tag_id <> 0)::int
      else version.untagged_count + (run.version_tag_id = 0)::int end`;

/** By the set of runs each is for, in the order they are executed. */
export const RUN_STATEMENTS: Readonly<Record<keyof ChunkRuns, readonly string[]>> = {
  overwritten: [OVERWRITE],
  forgotten: [FORGET],
  superseded: [SUPERSEDE, OVERWRITE],
  replaced: [REPLACE],
  limited: [LIMIT],
};

const PLANNER = 'set local enable_hashjoin = off; set local enable_mergejoin = off; set local enable_seqscan = off';
const PLANNER_AGAIN = PLANNER.replaceAll('= off', '= default');

/**
 * Runs statements whose only good plan is a nested loop over keys: a run is a range, which no other join can use, and the
 * planner does not know how few rows it meets.
 */
export async function byKeys<Result>(transaction: Transaction, work: () => Promise<Result>): Promise<Result> {
  await transaction.query(PLANNER);
  const result = await work();
  await transaction.query(PLANNER_AGAIN);
  return result;
}

/** Makes way for the rows of a write. */
export async function makeWay(transaction: Transaction, chunks: ReadonlyMap<number, ChunkRuns>): Promise<void> {
  await execute(transaction, chunks, ['overwritten', 'forgotten', 'superseded', 'replaced']);
}

/** Cuts history to the limit of each variable at the dates written, once the rows of the write are there. */
export async function limitVersions(transaction: Transaction, chunks: ReadonlyMap<number, ChunkRuns>): Promise<void> {
  await execute(transaction, chunks, ['limited']);
}

async function execute(
  transaction: Transaction,
  chunks: ReadonlyMap<number, ChunkRuns>,
  sets: readonly (keyof ChunkRuns)[],
): Promise<void> {
  const steps = [...chunks].flatMap(([chunk, runs]) =>
    sets
      .filter((set) => runs[set].variableIds.length > 0)
      .flatMap((set) => RUN_STATEMENTS[set].map((text) => ({ text, values: toValues(chunk, runs[set]) }))),
  );
  if (steps.length === 0) return;
  await byKeys(transaction, async () => {
    for (const { text, values } of steps) await transaction.query(text, values);
  });
}

/** Values of a run statement. */
export function toValues(chunk: number, runs: Runs): string[] {
  const columns = [
    runs.variableIds,
    runs.fromMicros,
    runs.toMicros,
    runs.stepMicros,
    runs.versionTagIds,
    runs.versionLimits,
  ];
  const bounds = [chunk * CHUNK_MICROS, (chunk + 1) * CHUNK_MICROS];
  return [...columns.map((column) => `{${column.join()}}`), ...bounds.map(formatInstant)];
}
