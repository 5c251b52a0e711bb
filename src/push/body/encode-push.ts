/**
 * Encodes the readings of a push as COPY tuples:
 * - Converts local dates to instants (R-D4).
 * - Keeps the last reading of each variable, date and VersionTag (R-D5).
 * - Puts the readings of each variable in order of date.
 */

import { LOCAL_DAY } from '../../platform/dates/date-rules.ts';
import type { ErrorDetail } from '../../platform/errors.ts';
import { invalidInput, MAX_DETAILS } from '../../platform/http/lenient.ts';
import { TupleWriter } from '../../points/copy-codec.ts';
import { localClock, localDateWarning } from '../../structure/catalogue/time-zones.ts';
import { MAX_WARNINGS, type PushWarning } from '../push-answer.ts';
import type { PushContents } from './push-element.ts';

export interface EncodeInput {
  /** The variable id of each element; 0 for an element without a variable, whose readings are left out. */
  readonly variableIds: readonly number[];
  /**
   * The IANA zone of each element that has a variable. The zone applies to the dates of the element that have no
   * offset.
   */
  readonly timeZoneIds: readonly string[];
  /** For each element, the number by which its readings are divided (R-C6). */
  readonly dividers: readonly number[];
  /** The dictionary ids of each entry of `PushContents.labelTable`. */
  readonly labelIds: readonly LabelIds[];
}

export interface LabelIds {
  readonly versionTagId: number;
  readonly tagSetId: number;
}

export interface EncodedPush {
  /** COPY tuples: one for the last reading of each variable, date and VersionTag. */
  readonly tuples: Buffer;
  /** Number of readings, repeated readings included, in the elements that have a target. */
  readonly readingCount: number;
  /** Warnings about the first 100 local dates that a clock change skips or makes ambiguous. */
  readonly warnings: readonly PushWarning[];
  /** Distinct zones that were applied to dates without an offset (R-A11); at most 20 zones. */
  readonly timeZones: readonly string[];
  /**
   * The earliest date of each variable, in microseconds, by variable id. The whole map is undefined when `tuples` has
   * several readings of one variable at one date.
   */
  readonly firstDates: ReadonlyMap<number, number> | undefined;
  readonly hasVersionTags: boolean;
}

/** Maximum number of zones that an answer names. This limit keeps the header `Time-Zone` short. */
const MAX_TIME_ZONES = 20;

/**
 * Encodes the readings of a push (R-D4, R-D5). Leaves `given` unchanged, so that it can be encoded again for other
 * targets.
 * @throws {DomainError} invalid_input when a value exceeds the range of a double after division by the variable's
 * divider.
 */
export function encodePush(given: PushContents, input: EncodeInput): EncodedPush {
  const { dates, warnings, timeZones } = settleLocalDates(given, input);
  const contents = { ...given, dates, values: divideValues(given, input) };
  const scan = scanOrder(contents, input.variableIds);
  const ordered = scan.isAscending ? undefined : orderRows(contents, input);
  const writer = new TupleWriter(ordered ? ordered.rows.length : scan.readingCount);
  const add = (row: number, variableId: number): void => {
    const ids = input.labelIds[contents.labels[row] ?? 0] as LabelIds;
    const date = contents.dates[row] as number;
    writer.add(variableId, date, contents.values[row] as number, ids.versionTagId, ids.tagSetId);
  };
  if (ordered) for (const [index, row] of ordered.rows.entries()) add(row, ordered.variableIds[index] as number);
  else eachRow(contents, input.variableIds, add);
  const isStrict = ordered?.isStrict ?? true;
  return {
    tuples: writer.finish(),
    readingCount: scan.readingCount,
    warnings,
    timeZones,
    firstDates: isStrict ? scan.firstDates : undefined,
    hasVersionTags: input.labelIds.some(({ versionTagId }) => versionTagId !== 0),
  };
}

/** Calls `visit` for each reading, but not for the readings of elements without a target. */
function eachRow(
  { readingCounts }: PushContents,
  variableIds: readonly number[],
  visit: (row: number, variableId: number, element: number) => void,
): void {
  let row = 0;
  for (const [element, count] of readingCounts.entries()) {
    const variableId = variableIds[element] ?? 0;
    const end = row + count;
    if (variableId === 0) row = end;
    for (; row < end; row += 1) visit(row, variableId, element);
  }
}

interface OrderScan {
  readonly readingCount: number;
  /**
   * True when the dates of every variable strictly ascend. Then no variable has a date twice, and no sorting is needed.
   */
  readonly isAscending: boolean;
  /** By variable id: the earliest date that the push has for the variable, in microseconds. */
  readonly firstDates: ReadonlyMap<number, number>;
}

function scanOrder(contents: PushContents, variableIds: readonly number[]): OrderScan {
  const firstDates = new Map<number, number>();
  const lastDates = new Map<number, number>();
  let isAscending = true;
  let readingCount = 0;
  let current = 0;
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  const leave = (): void => {
    if (current === 0) return;
    firstDates.set(current, first);
    lastDates.set(current, last);
  };
  eachRow(contents, variableIds, (row, variableId) => {
    if (variableId !== current) {
      leave();
      current = variableId;
      first = firstDates.get(variableId) ?? Number.POSITIVE_INFINITY;
      last = lastDates.get(variableId) ?? Number.NEGATIVE_INFINITY;
    }
    const date = contents.dates[row] as number;
    if (date <= last) isAscending = false;
    if (date < first) first = date;
    last = date;
    readingCount += 1;
  });
  leave();
  return { readingCount, isAscending, firstDates };
}

interface OrderedRows {
  readonly rows: readonly number[];
  /** Variable id of each row. */
  readonly variableIds: readonly number[];
  /** True when no variable has a date twice. */
  readonly isStrict: boolean;
}

/**
 * Groups rows by variable and sorts each group by date; rows with the same date stay in the order of the push. Keeps
 * only the last row of each variable, date and VersionTag.
 */
function orderRows(contents: PushContents, { variableIds, labelIds }: EncodeInput): OrderedRows {
  const { dates, labels } = contents;
  const rowsOf = new Map<number, number[]>();
  eachRow(contents, variableIds, (row, variableId) => {
    const rows = rowsOf.get(variableId);
    if (rows) rows.push(row);
    else rowsOf.set(variableId, [row]);
  });
  const tagOf = (row: number): number => labelIds[labels[row] ?? 0]?.versionTagId ?? 0;
  const rows: number[] = [];
  const variables: number[] = [];
  let isStrict = true;
  for (const [variableId, own] of rowsOf) {
    own.sort((a, b) => (dates[a] as number) - (dates[b] as number) || a - b);
    for (let start = 0; start < own.length; ) {
      let end = start + 1;
      while (end < own.length && dates[own[end] as number] === dates[own[start] as number]) end += 1;
      const kept = end === start + 1 ? 1 : keepLast(own, start, end, tagOf);
      if (kept > 1) isStrict = false;
      for (let index = end - kept; index < end; index += 1) {
        rows.push(own[index] as number);
        variables.push(variableId);
      }
      start = end;
    }
  }
  return { rows, variableIds: variables, isStrict };
}

/**
 * Among the rows from index `start` (inclusive) to `end` (exclusive), keeps the last row of each VersionTag. Moves the
 * kept rows to the last places of this range, directly before `end`, in the same order.
 * @returns the number of kept rows.
 */
function keepLast(rows: number[], start: number, end: number, tagOf: (row: number) => number): number {
  const seen = new Set<number>();
  let write = end;
  for (let read = end - 1; read >= start; read -= 1) {
    const row = rows[read] as number;
    if (seen.has(tagOf(row))) continue;
    seen.add(tagOf(row));
    write -= 1;
    rows[write] = row;
  }
  return end - write;
}

interface SettledDates {
  readonly dates: Float64Array;
  readonly warnings: readonly PushWarning[];
  readonly timeZones: readonly string[];
}

function settleLocalDates(contents: PushContents, input: EncodeInput): SettledDates {
  const { isLocal } = contents;
  if (!isLocal) return { dates: contents.dates, warnings: [], timeZones: [] };
  const dates = contents.dates.slice();
  const warnings: PushWarning[] = [];
  const timeZones = new Set<string>();
  let first = 0;
  for (const [element, count] of contents.readingCounts.entries()) {
    const timeZoneId = input.timeZoneIds[element] ?? 'UTC';
    const toInstant = localClock(timeZoneId);
    let isZoneUsed = false;
    for (let index = 0; index < count && input.variableIds[element]; index += 1) {
      if (isLocal[first + index] === 0) continue;
      const local = dates[first + index] as number;
      isZoneUsed = true;
      const { micros, kind } = toInstant(local, isLocal[first + index] === LOCAL_DAY);
      dates[first + index] = micros;
      if (kind === 'exact' || warnings.length === MAX_WARNINGS) continue;
      const path = `$[${element}].data[${index}].date`;
      const message = localDateWarning(kind, local, micros, timeZoneId);
      warnings.push({ path, code: `${kind}_local_date`, message });
    }
    if (isZoneUsed) timeZones.add(timeZoneId);
    first += count;
  }
  return { dates, warnings, timeZones: [...timeZones].slice(0, MAX_TIME_ZONES) };
}

/** Divides the readings of each element by the divider of its variable. */
function divideValues({ values, readingCounts }: PushContents, { dividers, variableIds }: EncodeInput): Float64Array {
  if (dividers.every((divider) => divider === 1)) return values;
  const divided = values.slice();
  const problems: ErrorDetail[] = [];
  let first = 0;
  for (const [element, count] of readingCounts.entries()) {
    const divider = dividers[element] ?? 1;
    for (let index = 0; index < count && divider !== 1; index += 1) {
      const value = (values[first + index] as number) / divider;
      divided[first + index] = value;
      if (Number.isFinite(value) || problems.length === MAX_DETAILS) continue;
      const rule = `must be finite after division by ${divider}, the divider of variable ${variableIds[element]}`;
      problems.push({ path: `$[${element}].data[${index}].value`, message: `${rule}, got ${values[first + index]}` });
    }
    first += count;
  }
  if (problems.length > 0) throw invalidInput(problems);
  return divided;
}
