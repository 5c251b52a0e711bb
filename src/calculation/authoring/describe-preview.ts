/** What an author sees of an evaluation (R-H9): the series as it would be stored, and everything there is to say. */
import { basename, extname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import type { Micros } from '../../points/point.ts';
import type { Computed } from '../run/compute.ts';
import type { Output, OutputPoint } from '../run/output-rules.ts';
import { sumCounts } from '../run/write-outputs.ts';
import type { ScriptFile } from '../sandbox/sandbox-types.ts';

/** Rows shown; of more the first. */
const MAX_ROWS = 10_000;
const PICTURES: ReadonlySet<string> = new Set(['.svg', '.png']);

export interface PreviewedDates {
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
  readonly triggerMicros: Micros;
}

/** A script may return millions of rows: they go by slice by slice, and others are served in between. */
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
  return {
    outcome: result.kind === 'ok' ? 'ok' : result.outcome,
    message: result.kind === 'ok' ? null : result.message,
    from: formatInstant(dates.fromMicros),
    to: formatInstant(dates.toMicros),
    triggerDate: formatInstant(dates.triggerMicros),
    defaultVersion,
    ...{ formulas, inputs },
    series,
    isSeriesCut: sumCounts(outputs).stored > series.length,
    counts: { read, ...sumCounts(outputs) },
    ...notes,
    warnings: [...warnings, ...outputs.flatMap((output) => output.warnings())],
    durationsMs: durations,
    plots: files.flatMap(toPlot),
  };
}

/** The rows shown. All slices are gone through: counts and warnings are of those taken. */
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
    ...(tags !== null && { tags: JSON.parse(tags) as unknown }),
  };
}

/** The name is the script's: only what is before its extension, and no path, is passed on. */
function toPlot({ name, bytes }: ScriptFile) {
  const extension = extname(name).toLowerCase();
  if (!PICTURES.has(extension)) return [];
  return [{ name: basename(name), format: extension.slice(1), data: bytes.toString('base64') }];
}
