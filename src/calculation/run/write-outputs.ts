/** Stores outputs slice by slice, and yields to the event loop between slices. */
import type { Transaction } from '../../platform/database/database.ts';
import type { Dictionary } from '../../points/dictionary.ts';
import { encodeReadings } from '../../points/encode-readings.ts';
import { findLabelIds } from '../../points/find-label-ids.ts';
import type { Micros, WrittenRange } from '../../points/point.ts';
import { describeRefused } from '../../points/rollups/describe-refused.ts';
import { writePoints } from '../../points/write/write-points.ts';
import type { Output, OutputCounts, OutputPoint } from './output-rules.ts';

export interface Writer {
  readonly accountId: number;
  readonly variableId: number;
}

/** First and last VersionTimestamp of the stored points, both inclusive. */
export interface WrittenVersions {
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
}

export interface WrittenOutputs {
  /**
   * At most one range: from the first to the last changed date. The list is empty when nothing was stored or the
   * variable was deleted.
   */
  readonly ranges: readonly WrittenRange[];
  /** Warnings about points that were not stored because retention has replaced the points of that time with rollups. */
  readonly warnings: readonly string[];
  /** Number of the points that these warnings are about. */
  readonly refusedCount: number;
  /** Undefined when nothing was stored. */
  readonly versions: WrittenVersions | undefined;
}

/** Stores the outputs of a run as part of the caller's transaction. */
export async function writeOutputs(
  transaction: Transaction,
  dictionary: Dictionary,
  writer: Writer,
  outputs: readonly Output[],
): Promise<WrittenOutputs> {
  let whole: WrittenRange | undefined;
  let versions: WrittenVersions | undefined;
  const warnings: string[] = [];
  let refusedCount = 0;
  for (const output of outputs) {
    for (const points of output.slices()) {
      const tuples = await encodeSlice(dictionary, writer, points);
      const { ranges, refused, stamps } = await writePoints(transaction, [tuples]);
      for (const range of ranges) whole = merge(whole, range);
      for (const stamp of stamps) versions = mergeVersions(versions, stamp);
      for (const offsets of refused.values()) {
        warnings.push(...describeRefused(tuples, offsets));
        refusedCount += offsets.length;
      }
    }
  }
  return { ranges: whole ? [whole] : [], warnings, refusedCount, versions };
}

/** Encodes a slice for storage. Label ids are created outside the transaction, on another connection. */
async function encodeSlice(
  dictionary: Dictionary,
  { accountId, variableId }: Writer,
  points: readonly OutputPoint[],
): Promise<Buffer> {
  const idsOf = await findLabelIds(dictionary, accountId, new Set(points.map(({ labels }) => labels)));
  return encodeReadings(
    points.map(({ dateMicros, value, labels }) => ({ variableId, dateMicros, value, ...idsOf(labels) })),
  );
}

function merge(whole: WrittenRange | undefined, range: WrittenRange): WrittenRange {
  if (!whole) return range;
  return {
    variableId: range.variableId,
    fromMicros: Math.min(whole.fromMicros, range.fromMicros),
    toMicros: Math.max(whole.toMicros, range.toMicros),
    count: whole.count + range.count,
  };
}

function mergeVersions(whole: WrittenVersions | undefined, { fromMicros, toMicros }: WrittenVersions): WrittenVersions {
  if (!whole) return { fromMicros, toMicros };
  return { fromMicros: Math.min(whole.fromMicros, fromMicros), toMicros: Math.max(whole.toMicros, toMicros) };
}

/** Returns the total of each count over all formulas of a run. */
export function sumCounts(outputs: readonly Output[]): OutputCounts {
  const sum = { returned: 0, dropped: 0, outside: 0, merged: 0, stored: 0 };
  for (const output of outputs) {
    const counts = output.counts();
    for (const name of ['returned', 'dropped', 'outside', 'merged', 'stored'] as const) sum[name] += counts[name];
  }
  return sum;
}
