/**
 * Writes a chunk and the file's progress in one transaction, so a crash loses no row and repeats none (R-E5). The
 * points bypass push batches, because a push batch would store every row twice.
 */
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { announcePoints } from '../../points/announce-points.ts';
import { TUPLE_BYTES, variableIdsOf } from '../../points/copy-codec.ts';
import { recordOrigin } from '../../points/origins/record-origin.ts';
import { describeRefused, type RefusedTuples } from '../../points/rollups/describe-refused.ts';
import { variableSet } from '../../points/variable-set-codec.ts';
import { WRITE_TIMEOUT_MS, writePoints } from '../../points/write/write-points.ts';
import type { ParsedChunk } from '../parsing/parser-messages.ts';
import { type FilePosition, MAX_WARNINGS, type RowError, type RowWarning } from '../standard-file.ts';
import { endFile, type TakenFile } from './take-file.ts';

const BATCH_BYTES = 2048 * TUPLE_BYTES;

const ADVANCE = `
  update stored_file
  set position_bytes = $3, position_rows = $4, position_row_number = $5, ingested_rows = ingested_rows + $6,
      rejected_rows = rejected_rows + $7, warning_count = warning_count + $8,
      warnings = case when jsonb_array_length(warnings) < ${MAX_WARNINGS} then warnings || $9::jsonb else warnings end,
      attempts = 0, variables = variables + $10::int4multirange
  where id = $1 and state = 'Processing' and position_rows = $2`;

/**
 * Writes one chunk (R-E5).
 * @param done position in the file before the chunk.
 * @returns false, and writes nothing, if the file has its final state or if its stored position differs from `done`.
 */
export async function writeChunk(
  database: Database,
  { id, accountId, requestId }: TakenFile,
  done: FilePosition,
  chunk: ParsedChunk,
): Promise<boolean> {
  return withTransaction(
    database,
    async (transaction) => {
      const { bytes, rows, rowNumber } = chunk.position;
      const { ingested, errors, warnings, warningCount } = chunk;
      const { rowCount } = await transaction.query(ADVANCE, [
        ...[id, done.rows, bytes, rows, rowNumber],
        ...[ingested, errors.length, warningCount, JSON.stringify(warnings)],
        variableSet(variableIdsOf(chunk.tuples)),
      ]);
      if (rowCount !== 1) return false;
      await storeErrors(transaction, id, errors);
      if (chunk.tuples.length > 0) {
        const batches = inBatches(chunk.tuples);
        const { ranges, refused, stamps } = await writePoints(transaction, batches);
        await recordOrigin(transaction, accountId, stamps, { fileId: id });
        await warnOfRefused(transaction, id, chunk.firstRow, batches, refused);
        await announcePoints(transaction, accountId, ranges, requestId === null ? {} : { requestId });
      }
      if (chunk.isLast) await endFile(transaction, id);
      return true;
    },
    { statementTimeoutMs: WRITE_TIMEOUT_MS },
  );
}

const ADD_REFUSED = `
  update stored_file
  set ingested_rows = ingested_rows - $2, rejected_rows = rejected_rows + $2, warning_count = warning_count + $3,
      warnings = case when jsonb_array_length(warnings) < ${MAX_WARNINGS} then warnings || $4::jsonb else warnings end
  where id = $1`;

/**
 * Moves refused rows from the count of ingested rows to the count of rejected rows, and adds warnings.
 * @param row row number for all warnings: `firstRow` of the chunk, because the numbers of the refused rows are unknown.
 */
async function warnOfRefused(
  transaction: Transaction,
  id: string,
  row: number,
  batches: readonly Buffer[],
  refused: RefusedTuples,
): Promise<void> {
  for (const [batch, offsets] of refused) {
    const texts = describeRefused(batches[batch] ?? Buffer.alloc(0), offsets);
    const warnings = texts.map((message): RowWarning => ({ row, code: 'rolled_up_date', message }));
    await transaction.query(ADD_REFUSED, [id, offsets.length, warnings.length, JSON.stringify(warnings)]);
  }
}

/** Splits the tuples into the batches that `writePoints` takes, each of at most `BATCH_BYTES`. */
function inBatches({ buffer, byteOffset, byteLength }: Uint8Array): readonly Buffer[] {
  const batches: Buffer[] = [];
  for (let start = 0; start < byteLength; start += BATCH_BYTES) {
    batches.push(Buffer.from(buffer, byteOffset + start, Math.min(BATCH_BYTES, byteLength - start)));
  }
  return batches;
}

async function storeErrors(transaction: Transaction, fileId: string, errors: readonly RowError[]): Promise<void> {
  if (errors.length === 0) return;
  await transaction.query(
    `insert into stored_file_error (file_id, row_number, code, message)
     select $1, * from unnest($2::int8[], $3::text[], $4::text[])`,
    [fileId, errors.map(({ row }) => row), errors.map(({ code }) => code), errors.map(({ message }) => message)],
  );
}
