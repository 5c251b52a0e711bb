/**
 * Ingests one stored file: passes the file to a parser process, resolves targets and labels, and writes the parsed rows
 * chunk by chunk (R-E2, R-E3, R-E5).
 */
import { type Database, withTransaction } from '../../platform/database/database.ts';
import { isTransientError } from '../../platform/database/dependency-error.ts';
import { PART_BYTES, readPart } from '../../platform/database/stored-parts.ts';
import type { Log } from '../../platform/log.ts';
import type { AccountPace } from '../../platform/shares/account-pace.ts';
import { variableIdsOf } from '../../points/copy-codec.ts';
import type { Dictionary } from '../../points/dictionary.ts';
import { findLabelIds } from '../../points/find-label-ids.ts';
import { resolveTargets } from '../../push/resolve-targets.ts';
import { openPushBarrier } from '../../push/store/waiting-batches.ts';
import type { FileMetrics } from '../file-metrics.ts';
import { type FileParser, type ParseHelp, ParserDeath } from '../parsing/file-parser.ts';
import { COLUMN_OF } from '../parsing/header-columns.ts';
import type { ResolveAnswer, ResolveRequest } from '../parsing/parser-messages.ts';
import { type FileLimits, type FilePosition, FileRefusal, SPLIT_ADVICE } from '../standard-file.ts';
import { FILE_PARTS } from '../upload/store-file.ts';
import { countFailures, endFile, storeIgnoredColumns, type TakenFile, takeFile } from './take-file.ts';
import { writeChunk } from './write-chunk.ts';

export interface IngestFileServices {
  readonly database: Database;
  readonly dictionary: Dictionary;
  readonly parser: FileParser;
  /** Divides the time for parsing and writing fairly among accounts. */
  readonly pace: AccountPace;
  readonly limits: FileLimits;
  /** Relays events after each commit; must not reject. */
  readonly onWritten: () => Promise<void>;
  /** Receives the file that `ingestFile` is about to read. */
  readonly onTaken?: (file: TakenFile) => void;
  readonly metrics: FileMetrics;
  readonly log: Log;
}

// A file must not be retried for ever: after 10 failures because of its content or a bug, the file is Failed. A
// `FileRefusal` makes the file Failed at once. A written chunk sets the count of failures to 0. When the parser process
// dies because of the file, usually for lack of memory, the death counts as 5 failures. So the file is Failed at the
// second such death, unless a chunk was written between the deaths. Faults of the service, and parser processes that
// were killed from outside, never count (R-A15).
const MAX_FAILURES = 10;
const PARSER_DEATH_FAILURES = 5;

/**
 * Log message when `ingestFile` stops before the last chunk of the file: either this process stops, or another process
 * has written the next chunk or ended the processing of the file.
 */
const STOPPED =
  'file processing stopped; the written rows are kept, and an unfinished file resumes after its last written row';

/**
 * Ingests the oldest unfinished file of an account (R-E2). When `signal` aborts, stops after the chunk in progress,
 * but does not write a chunk that waits for pushes. A file that cannot be read ends as Failed.
 * @returns false when the account has no unfinished file.
 * @throws {Error} the error that stopped the processing, when the file must be retried.
 */
export async function ingestFile(
  services: IngestFileServices,
  accountId: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { database, log } = services;
  const file = await takeFile(database, accountId);
  if (!file) return false;
  services.onTaken?.(file);
  const startMs = performance.now();
  let isDone = true;
  try {
    isDone = await ingestRows(services, file, signal);
  } catch (error) {
    const { code, message } = await toRefusal(services, file, error, signal);
    const hasEnded = await withTransaction(database, (transaction) => endFile(transaction, file.id, { code, message }));
    if (hasEnded) services.metrics.failed.inc();
    if (hasEnded) log.info({ requestId: file.requestId, accountId, fileId: file.id, code }, 'file failed');
    await services.onWritten();
  }
  const durationMs = Math.round(performance.now() - startMs);
  const fields = { requestId: file.requestId, accountId, fileId: file.id, durationMs };
  log.info(fields, isDone ? 'file processing ended' : STOPPED);
  return true;
}

/**
 * Decides whether an error makes the file Failed. A `FileRefusal` does so immediately. Other errors do so after
 * MAX_FAILURES failures since the last written chunk. Faults of the service are not counted.
 * @returns the reason why the file is Failed.
 * @throws `error` when the file must be retried.
 */
async function toRefusal(
  { database, log }: IngestFileServices,
  file: TakenFile,
  error: unknown,
  signal: AbortSignal,
): Promise<FileRefusal> {
  if (error instanceof FileRefusal) return error;
  const isDeath = error instanceof ParserDeath;
  if (isTransientError(error) || (isDeath && (signal.aborted || !error.isByFile))) throw error;
  const failures = await countFailures(database, file.id, isDeath ? PARSER_DEATH_FAILURES : 1);
  if (failures < MAX_FAILURES) throw error;
  log.warn(
    { err: error, accountId: file.accountId, fileId: file.id },
    'the processing of a file failed repeatedly; the file gets the state Failed and is not tried again',
  );
  if (isDeath)
    return new FileRefusal(
      'too_large',
      `processing the file failed repeatedly, probably for lack of memory; ${SPLIT_ADVICE}`,
    );
  return new FileRefusal(
    'internal_error',
    'processing the file failed repeatedly because of an internal error; upload it again or contact support',
  );
}

/** @returns false when this call stopped before it had written the last chunk. */
async function ingestRows(services: IngestFileServices, file: TakenFile, signal: AbortSignal): Promise<boolean> {
  const { database, parser, pace, limits, onWritten, metrics } = services;
  const { format, sizeBytes, position: from } = file;
  const order = { format, sizeBytes, partBytes: PART_BYTES, limits, from };
  // Each chunk waits for the pushes to its variables that were accepted before the processing of the file started or
  // resumed (R-D6).
  const awaitEarlierPushes = await openPushBarrier(database, file.accountId, signal);
  let done: FilePosition = from;
  const { accountId } = file;
  const chunks = parser.parse(order, createHelp(services, file));
  await using _ = { [Symbol.asyncDispose]: async () => void (await chunks.return(undefined)) };
  for (;;) {
    const { value: chunk } = await pace.run(accountId, () => chunks.next());
    if (!chunk) return true;
    if (!(await awaitEarlierPushes(variableIdsOf(chunk.tuples)))) return false;
    const start = done;
    if (!(await pace.run(accountId, () => writeChunk(database, file, start, chunk)))) return false;
    done = chunk.position;
    metrics.ingested.inc(chunk.ingested);
    metrics.rejected.inc(chunk.errors.length);
    if (chunk.isLast) metrics.completed.inc();
    if (chunk.isLast) await onWritten();
    else void onWritten();
    if (signal.aborted) return chunk.isLast;
  }
}

function createHelp({ database, dictionary, log }: IngestFileServices, file: TakenFile): ParseHelp {
  return {
    readPart: (index) => readPart(database, FILE_PARTS, file.id, index),
    resolve: (request) => resolve(database, dictionary, file, request),
    onHeader: (ignored) => {
      storeIgnoredColumns(database, file.id, ignored).catch((error: unknown) => {
        log.warn(
          { err: error, accountId: file.accountId, fileId: file.id },
          'could not store which columns of the file are ignored; these columns may be missing from the status of the file',
        );
      });
    },
  };
}

/**
 * Resolves targets and labels, and creates unknown labels. Targets are found only within the sites and sources that the
 * uploader could push to at the time of the upload (R-D2, R-B9).
 */
async function resolve(
  database: Database,
  dictionary: Dictionary,
  { accountId, reach }: TakenFile,
  { targets, labels }: ResolveRequest,
): Promise<ResolveAnswer> {
  const found = await resolveTargets(
    database,
    { accountId, reach },
    targets.map(({ identifiers }) => identifiers),
    COLUMN_OF,
  );
  const idsOf = await findLabelIds(
    dictionary,
    accountId,
    labels.map((entry) => entry.labels),
  );
  return {
    targets: targets.flatMap(({ id }, index) => {
      const target = found[index];
      return target ? [{ id, target }] : [];
    }),
    labels: labels.map((entry) => ({ id: entry.id, ids: idsOf(entry.labels) })),
  };
}
