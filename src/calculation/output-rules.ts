/**
 * What a script returned → what is stored (§7, §9.4, R-H3): lengths, rows without a value, Versions and tags. The
 * messages §7 gives are kept word for word.
 */
import { isStorableText, STORABLE_RULE } from '../platform/storable-text.ts';
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../points/instant-rules.ts';
import { type Labels, toLabels } from '../points/label-rules.ts';
import type { Micros } from '../points/point.ts';
import type { OutputSeries } from './sandbox/sandbox-types.ts';

const MICROS_PER_SECOND = 1_000_000;
const MAX_VERSION_CHARACTERS = 200;
const MAX_TAGS = 50;

export interface OutputPoint {
  readonly dateMicros: Micros;
  readonly value: number;
  readonly labels: Labels;
}

export type PlannedOutput =
  | {
      readonly kind: 'ok';
      /** Ascending by date; of the same date, in the order returned. */
      readonly points: readonly OutputPoint[];
      /** Rows whose date or value was NA or not finite. */
      readonly droppedCount: number;
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'invalid'; readonly message: string };

export interface OutputSettings {
  readonly isVersioned: boolean;
  /** For rows without a Version; one per run (§9.4). */
  readonly defaultVersion: string;
}

/** @param series as returned; every column with its own length. */
export function planOutput(series: OutputSeries, settings: OutputSettings): PlannedOutput {
  const fault = findFault(series);
  if (fault !== undefined) return { kind: 'invalid', message: fault };
  const readTags = tagReader();
  const points: OutputPoint[] = [];
  for (const [row, date] of series.dates.entries()) {
    const value = series.values[row];
    if (value === undefined || !Number.isFinite(value) || !Number.isFinite(date)) continue;
    const version = settings.isVersioned ? series.versions?.[row] || settings.defaultVersion : undefined;
    const labels = toLabels(version, readTags.parse(series.tags?.[row] ?? '', row));
    points.push({ dateMicros: date * MICROS_PER_SECOND, value, labels });
  }
  points.sort((a, b) => a.dateMicros - b.dateMicros);
  return { kind: 'ok', points, droppedCount: series.dates.length - points.length, warnings: readTags.warnings() };
}

function findFault({ dates, values, versions, tags }: OutputSeries): string | undefined {
  if (dates.length !== values.length) {
    return `Dates and Values must be the same length, got ${dates.length} and ${values.length}`;
  }
  if (versions && versions.length !== dates.length) return 'Version must be the same length as Dates/Values';
  if (tags && tags.length !== dates.length) return 'Tags must be the same length as Dates/Values';
  const odd = dates.find((date) => Number.isFinite(date) && !isStorableDate(date));
  if (odd !== undefined) return `Dates must be whole UNIX seconds from 1700 to 2199, got ${odd}`;
  const long = versions?.find((version) => version.length > MAX_VERSION_CHARACTERS);
  if (long !== undefined) return `Version must be at most ${MAX_VERSION_CHARACTERS} characters, got ${long.length}`;
  return versions?.every(isStorableText) === false ? `Version ${STORABLE_RULE}` : undefined;
}

function isStorableDate(date: number): boolean {
  const micros = date * MICROS_PER_SECOND;
  return Number.isInteger(date) && micros >= MIN_DATE_MICROS && micros < MAX_DATE_MICROS;
}

/** Reads tags cells; equal cells are read once. A cell that is no object of texts costs its row the tags (§7). */
function tagReader() {
  const known = new Map<string, Readonly<Record<string, string>> | undefined>();
  let badCount = 0;
  let firstBadRow = 0;
  const parse = (cell: string, row: number): Readonly<Record<string, string>> => {
    if (cell === '') return {};
    if (!known.has(cell)) known.set(cell, parseTags(cell));
    const tags = known.get(cell);
    if (tags) return tags;
    if (badCount === 0) firstBadRow = row + 1;
    badCount += 1;
    return {};
  };
  const warnings = (): readonly string[] => {
    if (badCount === 0) return [];
    const rule = 'a Tags cell must be empty or a JSON object with string values';
    return [`${rule}; the tags of ${badCount} rows were dropped, the first is row ${firstBadRow}`];
  };
  return { parse, warnings };
}

function parseTags(cell: string): Readonly<Record<string, string>> | undefined {
  try {
    const tags: unknown = JSON.parse(cell);
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
