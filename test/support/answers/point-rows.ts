/** Converts gRPC columns to the rows that REST returns. */
import type { PointChunk } from '../clients/grpc-client.ts';

export interface Row {
  readonly variableId: number;
  readonly date: string;
  readonly rawValue: number;
  readonly unitId: number | null;
  readonly version?: string;
  readonly versionTimestamp: string;
  readonly tags?: Readonly<Record<string, string>>;
}

export function toRows(chunks: readonly PointChunk[]): readonly Row[] {
  return chunks.flatMap((chunk) =>
    chunk.dateMicros.map((date, index) => {
      const version = chunk.versions[(chunk.versionCodes[index] ?? 0) - 1];
      const tags = chunk.tags[(chunk.tagCodes[index] ?? 0) - 1];
      return {
        variableId: chunk.variableId,
        date: instantOf(date),
        rawValue: chunk.values[index] ?? Number.NaN,
        unitId: chunk.unitId ?? null,
        ...(version !== undefined && { version }),
        versionTimestamp: instantOf(chunk.versionTimestampMicros[index] ?? 0),
        ...(tags !== undefined && { tags: JSON.parse(tags) as Record<string, string> }),
      };
    }),
  );
}

function instantOf(value: number): string {
  const fraction = String(value % 1_000_000)
    .padStart(6, '0')
    .replace(/0+$/, '');
  const seconds = new Date(Math.floor(value / 1_000_000) * 1000).toISOString().slice(0, 19);
  return `${seconds}${fraction === '' ? '' : `.${fraction}`}Z`;
}
