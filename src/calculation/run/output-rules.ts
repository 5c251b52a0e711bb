/**
 * Converts the series of a script into the points to store, by the rules for lengths, dates, rows without a value,
 * Versions and tags (§7, §9.4, R-H3). The messages about the lengths of Version and Tags use the words of §7. The
 * points are returned in slices, so that millions of rows do not block the event loop.
 */

import { isStorableText, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import { formatInstant, MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../platform/dates/instant-rules.ts';
import { parseJsonText } from '../../platform/json/json-text.ts';
import { type Labels, MAX_TAGS, MAX_VERSION, toLabels } from '../../points/label-rules.ts';
import type { Micros } from '../../points/point.ts';
import type { FormulaPeriod } from '../declaration/formula-period-rules.ts';
import { findLongerText, hasUnstorableText } from '../sandbox/results/text-table.ts';
import type { OutputColumn, OutputSeries } from '../sandbox/sandbox-types.ts';

const MICROS_PER_SECOND = 1_000_000;
/**
 * Rows per slice. A slice takes about 10 ms of work, or much more if most rows have different Tags. Adjacent rows of
 * one date stay in one slice unless the slice would exceed twice this number.
 */
export const SLICE_ROWS = 20_000;

export interface OutputPoint {
  readonly dateMicros: Micros;
  readonly value: number;
  readonly labels: Labels;
}

export interface OutputCounts {
  /** Number of rows that the script returned. */
  readonly returned: number;
  /** Number of rows whose date or value was NA or not finite. */
  readonly dropped: number;
  /** Number of rows whose date is outside `OutputSettings.period`. */
  readonly outside: number;
  /**
   * Number of rows that were replaced by a later row of the slice with the same date and, if `isVersioned`, the same
   * Version.
   */
  readonly merged: number;
  readonly stored: number;
}

/**
 * The rows of one formula, in the order in which the sandbox returned them: ascending by date, unless the script forged
 * the result.
 */
export interface Output {
  /** Yields the points to store, in slices. Call it only once: a second call would count all rows again. */
  readonly slices: () => Generator<readonly OutputPoint[]>;
  /** Counts of the rows in the slices taken so far. Exception: `returned` counts the rows of all slices. */
  readonly counts: () => OutputCounts;
  readonly warnings: () => readonly string[];
}

export type PlannedOutput =
  | { readonly kind: 'ok'; readonly output: Output }
  | { readonly kind: 'invalid'; readonly message: string };

export interface OutputSettings {
  readonly isVersioned: boolean;
  /** The Version that rows without a Version get; the same for the whole run (§9.4). */
  readonly defaultVersion: string;
  /** The dates whose rows are stored. Default: all dates. */
  readonly period?: Period;
}

type Period = Pick<FormulaPeriod, 'fromMicros' | 'untilMicros'>;

/**
 * Plans the points to store from a script's series (§7, §9.4, R-H3).
 * @param series the series as the sandbox returned it; its columns may differ in length.
 * @returns the rows in slices, or the message of the rule that the series breaks.
 */
export function planOutput(series: OutputSeries, settings: OutputSettings): PlannedOutput {
  const message = findFault(series);
  return message === undefined ? { kind: 'ok', output: openOutput(series, settings) } : { kind: 'invalid', message };
}

function findFault({ dates, values, versions, tags }: OutputSeries): string | undefined {
  if (dates.length !== values.length) {
    return `Dates and Values must be the same length, got ${dates.length} and ${values.length}`;
  }
  if (versions && versions.codes.length !== dates.length) return 'Version must be the same length as Dates/Values';
  if (tags && tags.codes.length !== dates.length) return 'Tags must be the same length as Dates/Values';
  for (const date of dates) {
    if (Number.isFinite(date) && !isStorableDate(date)) return describeOddDate(date);
  }
  if (!versions) return undefined;
  const long = findLongerText(versions.texts, MAX_VERSION);
  if (long !== undefined) {
    const length = versions.texts.at(long)?.length;
    const date = dates[versions.codes.indexOf(long)] ?? Number.NaN;
    const place = Number.isFinite(date) ? ` at ${formatInstant(date * MICROS_PER_SECOND)}` : '';
    return `Version must be at most ${MAX_VERSION} characters, got ${length}${place}`;
  }
  return hasUnstorableText(versions.texts) ? `Version ${STORABLE_RULE}` : undefined;
}

function isStorableDate(date: number): boolean {
  const micros = date * MICROS_PER_SECOND;
  return Number.isInteger(date) && micros >= MIN_DATE_MICROS && micros < MAX_DATE_MICROS;
}

function describeOddDate(date: number): string {
  const [first, last] = [MIN_DATE_MICROS, MAX_DATE_MICROS - 1].map((micros) => formatInstant(micros).slice(0, 10));
  const rule = `Dates must be whole UNIX seconds from ${first} to ${last}`;
  const isInstant = Number.isInteger(date) && Math.abs(date) < 8.64e12;
  // In milliseconds, dates since July 1998 exceed 9e11. In seconds, only dates after the year 30,000 exceed 9e11.
  const hint = Math.abs(date) > 9e11 && Math.abs(date) < MAX_DATE_MICROS / 1000 ? '; are these milliseconds?' : '';
  return `${rule}, got ${isInstant ? `${date} (${new Date(date * 1000).toISOString()})` : date}${hint}`;
}

function openOutput(series: OutputSeries, { period, ...settings }: OutputSettings): Output {
  const { dates, values } = series;
  const { fromMicros, untilMicros } = period ?? { fromMicros: -Infinity, untilMicros: Infinity };
  const labels = labelReader(series, settings);
  const counts = { returned: dates.length, dropped: 0, outside: 0, merged: 0, stored: 0 };
  let firstMerged: Micros | undefined;
  const collect = (from: number, end: number): readonly OutputPoint[] => {
    const points = openPoints();
    for (let row = from; row < end; row += 1) {
      const dateMicros = (dates[row] ?? Number.NaN) * MICROS_PER_SECOND;
      const value = values[row] ?? Number.NaN;
      if (!Number.isFinite(value) || !Number.isFinite(dateMicros)) counts.dropped += 1;
      else if (dateMicros < fromMicros || dateMicros >= untilMicros) counts.outside += 1;
      else if (points.put({ dateMicros, value, labels: labels.of(row) })) {
        counts.merged += 1;
        firstMerged ??= dateMicros;
      }
    }
    return points.toPoints();
  };
  function* slices(): Generator<readonly OutputPoint[]> {
    for (let from = 0, end = 0; from < dates.length; from = end) {
      end = endOfSlice(dates, from);
      labels.forget();
      const points = collect(from, end);
      counts.stored += points.length;
      if (points.length > 0) yield points;
    }
  }
  const warnings = () => [
    ...describeEmptiness(counts, { fromMicros, untilMicros }),
    ...describeMerged(counts.merged, firstMerged, settings.isVersioned),
    ...labels.warnings(),
  ];
  return { slices, counts: () => ({ ...counts }), warnings };
}

function endOfSlice(dates: Float64Array, from: number): number {
  const last = Math.min(from + 2 * SLICE_ROWS, dates.length);
  let end = Math.min(from + SLICE_ROWS, last);
  while (end < last && dates[end] === dates[end - 1]) end += 1;
  return end;
}

/**
 * Collects points. The caller must `put` the points in ascending order of date. Of the points with the same date and
 * Version, only the last is kept (§9.2).
 */
function openPoints() {
  const points: (OutputPoint | undefined)[] = [];
  /** Indexes of the points at the last date, by Version; filled only when that date gets a second point. */
  const known = new Map<string | undefined, number>();
  const put = (point: OutputPoint): boolean => {
    const last = points.at(-1);
    if (last?.dateMicros !== point.dateMicros) known.clear();
    else if (known.size === 0) known.set(last.labels.version, points.length - 1);
    const index = known.get(point.labels.version);
    if (index !== undefined) points[index] = undefined;
    if (last?.dateMicros === point.dateMicros) known.set(point.labels.version, points.length);
    points.push(point);
    return index !== undefined;
  };
  return { put, toPoints: () => points.filter((point) => point !== undefined) };
}

function describeMerged(merged: number, first: Micros | undefined, isVersioned: boolean): readonly string[] {
  if (first === undefined) return [];
  const same = isVersioned ? 'date and Version' : 'date';
  return [
    `of the rows with the same ${same}, only the last is stored; rows left out: ${merged}, the first at ${formatInstant(first)}`,
  ];
}

/** Warns when rows were returned but none is stored. Does not warn when only some rows are left out: that is normal. */
function describeEmptiness({ returned, dropped, outside }: OutputCounts, period: Period): readonly string[] {
  if (returned === 0 || dropped + outside < returned) return [];
  if (outside > 0) {
    const rule =
      'each date must be in the period in which the formula is valid, and in the whole periods read from each RelativeDate or LastNPoints input that has `alignTo`';
    return [
      `no row of the formula is stored: ${rule} (${describePeriod(period)}); rows that break this rule: ${outside} of ${returned}`,
    ];
  }
  return [
    `no row of the formula is stored: no returned row has both a date and a finite value; rows returned: ${returned}`,
  ];
}

function describePeriod({ fromMicros, untilMicros }: Period): string {
  if (untilMicros <= fromMicros) return 'no date meets both conditions';
  const from = Number.isFinite(fromMicros) ? [`from ${formatInstant(fromMicros)}`] : [];
  const until = Number.isFinite(untilMicros) ? [`before ${formatInstant(untilMicros)}`] : [];
  return [...from, ...until].join(', ');
}

/**
 * @returns functions that read the labels of rows. Within a slice, rows with the same Version and the same Tags share
 * one `Labels`.
 */
function labelReader(
  { dates, versions, tags }: OutputSeries,
  { isVersioned, defaultVersion }: Omit<OutputSettings, 'period'>,
) {
  const readTags = tagReader();
  const known = new Map<number, Labels>();
  const tagTexts = tags?.texts.length ?? 1;
  const of = (row: number): Labels => {
    const [versionCode, tagCode] = [versions?.codes[row] ?? 0, tags?.codes[row] ?? 0];
    const cell = textOf(tags, tagCode);
    readTags.note(cell, (dates[row] ?? 0) * MICROS_PER_SECOND);
    const key = versionCode * tagTexts + tagCode;
    let labels = known.get(key);
    if (!labels) {
      const version = isVersioned ? textOf(versions, versionCode) || defaultVersion : undefined;
      labels = toLabels(version, readTags.parse(cell) ?? {});
      known.set(key, labels);
    }
    return labels;
  };
  const forget = () => {
    known.clear();
    readTags.forget();
  };
  return { of, forget, warnings: readTags.warnings };
}

function textOf(column: OutputColumn | null, code: number): string {
  return column?.texts.at(code) ?? '';
}

/**
 * Parses the cells of the Tags column. Equal cells of a slice are parsed once. A row whose cell is not a JSON object of
 * at most `MAX_TAGS` storable keys and strings is stored without the tags of the cell (§7).
 */
function tagReader() {
  const known = new Map<string, Readonly<Record<string, string>> | undefined>();
  let badCount = 0;
  let firstBad: Micros = 0;
  const parse = (cell: string): Readonly<Record<string, string>> | undefined => {
    if (cell === '') return {};
    if (!known.has(cell)) known.set(cell, parseTags(cell));
    return known.get(cell);
  };
  const note = (cell: string, dateMicros: Micros): void => {
    if (parse(cell) !== undefined) return;
    if (badCount === 0) firstBad = dateMicros;
    badCount += 1;
  };
  const warnings = (): readonly string[] => {
    if (badCount === 0) return [];
    const rule = `a Tags cell must be empty or a JSON object of at most ${MAX_TAGS} keys with string values`;
    const left = `rows with an invalid Tags cell, which is ignored: ${badCount}, the first at ${formatInstant(firstBad)}`;
    return [`${rule}, and ${STORABLE_RULE}; ${left}`];
  };
  return { parse, note, forget: () => known.clear(), warnings };
}

function parseTags(cell: string): Readonly<Record<string, string>> | undefined {
  try {
    const tags = parseJsonText(cell);
    if (typeof tags !== 'object' || tags === null || Array.isArray(tags)) return undefined;
    const entries = Object.entries(tags);
    const isValid = entries.length <= MAX_TAGS && entries.every((entry) => entry.every(isTagText));
    return isValid ? (tags as Record<string, string>) : undefined;
  } catch {
    return undefined;
  }
}

function isTagText(text: unknown): boolean {
  return typeof text === 'string' && isStorableText(text);
}
