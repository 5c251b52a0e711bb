/**
 * Refuses points at dates that are rolled up, because a single point cannot be added to an aggregate or corrected in
 * it. Refused points are removed from the write and counted for their variable. Points before `rolledUntilMicros` that
 * no rollup covers are written, and `rollup_next` moves back so that they are rolled up later.
 */
import type { Transaction } from '../../platform/database/database.ts';
import { eachTuple, TUPLE_BYTES } from '../copy-codec.ts';
import type { Micros } from '../point.ts';
import { instantBound } from '../read/sql-literal.ts';
import type { Series } from '../write/survey-rows-rules.ts';
import type { RefusedTuples } from './describe-refused.ts';

interface EarlyDates {
  fromMicros: Micros;
  toMicros: Micros;
}

/** Spans of the rollups of one variable, in order of date; both ends are inclusive, and spans are disjoint. */
type Spans = readonly (readonly [fromMicros: Micros, toMicros: Micros])[];

const FIND_SPANS = `
  select variable_id as "variableId",
         array_agg((extract(epoch from first_date) * 1000000)::float8 order by first_date) as "froms",
         array_agg((extract(epoch from last_date) * 1000000)::float8 order by first_date) as "tos"
  from unnest($1::int[], $2::timestamptz[], $3::timestamptz[]) early (id, from_date, to_date)
  join point_rollup on variable_id = id and first_date <= to_date and last_date >= from_date
  group by variable_id`;

const SAVE = `
  update series
  set rollup_next = least(rollup_next, from_date), refused_count = refused_count + refused,
      refused_date = case when refused > 0 then clock_timestamp() else refused_date end
  from unnest($1::int[], $2::timestamptz[], $3::int8[]) early (id, from_date, refused)
  where variable_id = id`;

/**
 * @param batches batches of points as COPY tuples.
 * @param series settings and write state of each variable; the writer has locked the variables.
 * @returns the batches without the refused tuples, and the byte offsets of the refused tuples within their batches. A
 * batch without refused tuples is returned unchanged; a batch of which all tuples are refused is left out.
 */
export async function refuseRolledUp(
  transaction: Transaction,
  batches: readonly Buffer[],
  series: ReadonlyMap<number, Series>,
): Promise<{ readonly accepted: readonly Buffer[]; readonly refused: RefusedTuples }> {
  const early = findEarlyDates(batches, series);
  if (early.size === 0) return { accepted: batches, refused: new Map() };
  const spans = await findSpans(transaction, early);
  const counts = new Map<number, number>();
  const isRefused = (variableId: number, dateMicros: Micros): boolean => {
    if (!isIn(spans.get(variableId), dateMicros)) return false;
    counts.set(variableId, (counts.get(variableId) ?? 0) + 1);
    return true;
  };
  const refused = new Map<number, readonly number[]>();
  const accepted = batches.map((tuples, batch) => {
    const { kept, offsets } = withoutTuples(tuples, isRefused);
    if (offsets.length > 0) refused.set(batch, offsets);
    return kept;
  });
  await transaction.query(SAVE, [
    [...early.keys()],
    Array.from(early.values(), ({ fromMicros }) => instantBound(fromMicros)),
    Array.from(early.keys(), (variableId) => counts.get(variableId) ?? 0),
  ]);
  return { accepted: accepted.filter(({ length }) => length > 0), refused };
}

/**
 * Among the written dates before `rolledUntilMicros`, finds the earliest and the latest date of each variable. Omits
 * variables without such dates.
 */
function findEarlyDates(
  batches: readonly Buffer[],
  series: ReadonlyMap<number, Series>,
): ReadonlyMap<number, EarlyDates> {
  const early = new Map<number, EarlyDates>();
  const boundaries = new Map<number, Micros>();
  for (const { variableId, rolledUntilMicros } of series.values()) {
    if (typeof rolledUntilMicros === 'number') boundaries.set(variableId, rolledUntilMicros);
  }
  if (boundaries.size === 0) return early;
  for (const tuples of batches) {
    eachTuple(tuples, (variableId, dateMicros) => {
      if (!(dateMicros < (boundaries.get(variableId) ?? Number.NEGATIVE_INFINITY))) return;
      const dates = early.get(variableId);
      if (!dates) return void early.set(variableId, { fromMicros: dateMicros, toMicros: dateMicros });
      dates.fromMicros = Math.min(dates.fromMicros, dateMicros);
      dates.toMicros = Math.max(dates.toMicros, dateMicros);
    });
  }
  return early;
}

async function findSpans(
  transaction: Transaction,
  early: ReadonlyMap<number, EarlyDates>,
): Promise<ReadonlyMap<number, Spans>> {
  const { rows } = await transaction.query<{ variableId: number; froms: Micros[]; tos: Micros[] }>(FIND_SPANS, [
    [...early.keys()],
    Array.from(early.values(), ({ fromMicros }) => instantBound(fromMicros)),
    Array.from(early.values(), ({ toMicros }) => instantBound(toMicros)),
  ]);
  return new Map(rows.map(({ variableId, froms, tos }) => [variableId, joinSpans(froms, tos)]));
}

/**
 * Merges overlapping spans.
 * @param froms starts of the spans, in ascending order.
 * @param tos ends of the spans, in the order of `froms`.
 */
function joinSpans(froms: readonly Micros[], tos: readonly Micros[]): Spans {
  const spans: [Micros, Micros][] = [];
  for (const [index, from] of froms.entries()) {
    const to = tos[index] ?? from;
    const last = spans.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else spans.push([from, to]);
  }
  return spans;
}

/** Returns true when a span contains the date. Only the last span that begins at or before the date can contain it. */
function isIn(spans: Spans = [], dateMicros: Micros): boolean {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.[0] ?? 0) <= dateMicros) low = middle + 1;
    else high = middle;
  }
  return dateMicros <= (spans[low - 1]?.[1] ?? Number.NEGATIVE_INFINITY);
}

/**
 * @returns the tuples that are not refused, in order, and the offsets of the refused tuples. When no tuple is refused,
 * `kept` is `tuples` itself.
 */
function withoutTuples(
  tuples: Buffer,
  isRefused: (variableId: number, dateMicros: Micros) => boolean,
): { readonly kept: Buffer; readonly offsets: readonly number[] } {
  const parts: Buffer[] = [];
  const offsets: number[] = [];
  let begin = 0;
  eachTuple(tuples, (variableId, dateMicros, offset) => {
    if (!isRefused(variableId, dateMicros)) return;
    offsets.push(offset);
    if (offset > begin) parts.push(tuples.subarray(begin, offset));
    begin = offset + TUPLE_BYTES;
  });
  if (offsets.length === 0) return { kept: tuples, offsets };
  return { kept: Buffer.concat([...parts, tuples.subarray(begin)]), offsets };
}
