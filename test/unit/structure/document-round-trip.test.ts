/** The rows staged from a structure document are the same for JSON and for a workbook. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type DocumentRow,
  KINDS,
  type KindName,
  type ListName,
} from '../../../src/structure/exchange/document/kinds.ts';
import {
  encodeCells,
  encodeJson,
  writeJson,
  writeSheets,
} from '../../../src/structure/exchange/export/write-document.ts';
import { readJsonRows } from '../../../src/structure/exchange/reading/json-rows.ts';
import type { StagedBatch } from '../../../src/structure/exchange/reading/reading-messages.ts';
import { RowBatches } from '../../../src/structure/exchange/reading/row-batches.ts';
import { readWorkbookRows } from '../../../src/structure/exchange/reading/workbook-rows.ts';
import { type ModelStructure, structures } from '../../support/models/structure-model.ts';

const RUNS = Number(process.env.EXCHANGE_RUNS ?? 40);
const LIMITS = { maxRows: 1000, maxInflatedBytes: 2 ** 24, maxRatio: 1e6 };
const PART_BYTES = 1000;

type Read = (
  source: { readonly sizeBytes: number; readonly partBytes: number; readPart(index: number): Promise<Uint8Array> },
  batches: RowBatches,
) => Promise<unknown>;

async function stage(pieces: AsyncIterable<Uint8Array>, read: Read) {
  const collected: Uint8Array[] = [];
  for await (const piece of pieces) collected.push(piece);
  const bytes = Buffer.concat(collected);
  const found: StagedBatch[] = [];
  const batches = new RowBatches(LIMITS.maxRows, async (batch) => void found.push(batch));
  const readPart = async (index: number) => bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES);
  await read({ sizeBytes: bytes.length, partBytes: PART_BYTES, readPart }, batches);
  await batches.flush();
  return {
    problems: found.flatMap(({ problems }) => problems),
    rows: found.flatMap(({ rows }) => rows.map(({ place: _place, ...row }) => row)),
  };
}

/** @returns a row as an export writes it: with every member, null for absent ones. */
const complete = (kind: KindName, row: DocumentRow): DocumentRow => ({
  ...Object.fromEntries(KINDS[kind].fields.slice(2).map((field) => [field, null])),
  ...(kind === 'variables' && { calculated: null }),
  ...row,
});

async function* batchesOf(document: ModelStructure['document']) {
  yield { kind: 'catalogues' as const, rows: document.catalogues };
  yield { kind: 'forms' as const, rows: document.forms };
  for (const kind of ['sites', 'sources', 'variables'] as const)
    yield { kind, rows: document[kind].map((row) => complete(kind, row)) };
}

async function* encoded<Encoded>(
  document: ModelStructure['document'],
  encode: (batch: { readonly kind: ListName; readonly rows: readonly DocumentRow[] }) => Encoded,
) {
  for await (const batch of batchesOf(document)) yield encode(batch);
}

/** @returns rows in which the JSON text `members` is parsed, so that a comparison ignores the order of JSON keys. */
const comparable = ({ rows }: Awaited<ReturnType<typeof stage>>) =>
  rows.map((row) => ({ ...row, members: JSON.parse(row.members) as unknown }));

describe('structure documents: workbooks', () => {
  test('give the same rows as the JSON document, for random structures (R-A13)', async () => {
    await fc.assert(
      fc.asyncProperty(structures, async ({ document }) => {
        const json = await stage(writeJson(encoded(document, encodeJson)), readJsonRows);
        const workbook = await stage(writeSheets(encoded(document, encodeCells)), (source, batches) =>
          readWorkbookRows(source, LIMITS, batches),
        );
        expect(json.problems).toEqual([]);
        expect(workbook.problems).toEqual([]);
        expect(comparable(workbook)).toEqual(comparable(json));
      }),
      { numRuns: RUNS },
    );
  });
});
