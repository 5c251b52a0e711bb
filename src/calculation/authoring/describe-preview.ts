/** The answer of `evaluate` (R-H9): notes, timing, plots, and the series in the form in which it would be stored. */

import { basename, extname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { parseJsonText } from '../../platform/json/json-text.ts';
import type { Micros } from '../../points/point.ts';
import type { Computed } from '../run/compute.ts';
import type { Output, OutputPoint } from '../run/output-rules.ts';
import { sumCounts } from '../run/write-outputs.ts';
import type { ScriptFile } from '../sandbox/sandbox-types.ts';

/** Maximum number of rows of `series` in the answer; further rows are left out. */
const MAX_ROWS = 10_000;
const PICTURES: ReadonlySet<string> = new Set(['.svg', '.png']);

export interface PreviewedDates {
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
  readonly triggerMicros: Micros;
}

/**
 * Describes the result of a previewed run. Reads rows slice by slice, so that the event loop can do other work in
 * between.
 * @param defaultVersion the Version that rows without a Version get (§9.4).
 * @returns the body of the answer, which has the same members for every outcome.
 */
export async function describeComputed(
  computed: Computed,
  dates: PreviewedDates,
  defaultVersion: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { result, formulas, inputs, notes, durations, read, outcomes } = computed;
  const outputs = result.kind === 'ok' ? result.outputs : [];
  const series = await readSeries(outputs);
  const warnings = [...((notes.warnings as readonly string[] | undefined) ?? [])];
  const files = outcomes.flatMap((outcome) => ('files' in outcome && outcome.files ? outcome.files : []));
  const { stored: wouldStore, ...counts } = sumCounts(outputs);
  const { messages = [], errors = [], output = '', line = null, call, limit = null, signal = null } = notes;
  return {
    outcome: result.kind === 'ok' ? 'ok' : result.outcome,
    message: result.kind === 'ok' ? null : result.message,
    ...{ line, call: call || null, limit, signal },
    from: formatInstant(dates.fromMicros),
    to: formatInstant(dates.toMicros),
    triggerDate: formatInstant(dates.triggerMicros),
    defaultVersion,
    ...{ formulas, inputs },
    series,
    isSeriesCut: wouldStore > series.length,
    counts: { read, ...counts, wouldStore },
    ...{ messages, errors, output },
    warnings: [...warnings, ...outputs.flatMap((output) => output.warnings())],
    durationsMs: durations,
    plots: files.flatMap(toPlot),
  };
}

/**
 * Returns the first `MAX_ROWS` rows. Reads every slice, even after the first `MAX_ROWS` rows, because an output counts
 * rows and collects warnings only while its slices are read.
 */
async function readSeries(outputs: readonly Output[]): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const rows: Readonly<Record<string, unknown>>[] = [];
  for (const output of outputs) {
    for (const points of output.slices()) {
      rows.push(...points.slice(0, MAX_ROWS - rows.length).map(toRow));
      await nextTurn();
    }
  }
  return rows;
}

function toRow({ dateMicros, value, labels: { version, tags } }: OutputPoint): Readonly<Record<string, unknown>> {
  return {
    date: formatInstant(dateMicros),
    value,
    ...(version !== undefined && { version }),
    ...(tags !== null && { tags: parseJsonText(tags) }),
  };
}

/** @returns an array with the plot in the file; an empty array if the file is not a picture. */
function toPlot({ name, bytes }: ScriptFile) {
  const extension = extname(name).toLowerCase();
  if (!PICTURES.has(extension)) return [];
  return [{ name: basename(name), format: extension.slice(1), data: bytes.toString('base64') }];
}
