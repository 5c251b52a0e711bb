/**
 * Reads documents in child processes, so that a hostile workbook can crash its reader process, but not the importer. A
 * JSON document of one part is read in the importer itself. A reader process prepares a batch of rows only when the
 * previous batch is stored, so its memory does not grow with the number of rows.
 */
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inflatePart, type StoredPart } from '../../../platform/database/stored-parts.ts';
import { forkConfined } from '../../../platform/processes/fork-confined.ts';
import { DocumentRefusal, toRefusal } from './document-refusal.ts';
import { readJsonRows } from './json-rows.ts';
import type { DocumentNote, FromReader, ReadingOrder, StagedBatch, ToReader } from './reading-messages.ts';
import { RowBatches } from './row-batches.ts';

/** The reader process ended before it had read the document. */
export class ReaderDeath extends Error {
  override readonly name = 'ReaderDeath';
  /**
   * Whether the document may have caused the end of the process: false when the process was killed from outside, or
   * ended before it asked for a part of the document (R-A15).
   */
  readonly isByDocument: boolean;

  constructor(message: string, isByDocument: boolean) {
    super(message);
    this.isByDocument = isByDocument;
  }
}

/** Signals that end a reader from outside: from an operator, a shutdown, or the kernel when memory is short. */
const OUTER_SIGNALS: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']);
const PROGRAM = fileURLToPath(new URL('./reader-process.ts', import.meta.url));
const HEAP_MEBIBYTES = 320;
const BUFFER_MEBIBYTES = 160;

/**
 * Yields the rows of a document, batch by batch, and at the end one DocumentNote.
 * @param readStored function that reads a part of the document; `readDocument` rethrows its errors.
 * @param signal AbortSignal whose abort ends the reader process.
 * @throws {DocumentRefusal} when the document cannot be read to its end.
 * @throws {ReaderDeath} when the reader process ended before it had read the document.
 */
export async function* readDocument(
  order: ReadingOrder,
  readStored: (index: number) => Promise<StoredPart>,
  signal: AbortSignal,
  heapMebibytes = HEAP_MEBIBYTES,
): AsyncGenerator<StagedBatch | DocumentNote> {
  signal.throwIfAborted();
  if (order.format === 'json' && order.sizeBytes <= order.partBytes) {
    yield* readHere(order, readStored);
    return;
  }
  const child = forkConfined({
    program: PROGRAM,
    readable: ['src/'],
    ...{ heapMebibytes, bufferMebibytes: BUFFER_MEBIBYTES },
    options: ['--max-semi-space-size=8'],
  });
  const end = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', end, { once: true });
  try {
    yield* messagesOf(child, order, readStored);
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

/**
 * Reads a one-part JSON document in this process. No reader process is needed to limit the memory, because a part has a
 * maximum size.
 */
async function* readHere(
  order: ReadingOrder,
  readStored: (index: number) => Promise<StoredPart>,
): AsyncGenerator<StagedBatch | DocumentNote> {
  const found: StagedBatch[] = [];
  const batches = new RowBatches(order.limits.maxRows, async (batch) => void found.push(batch));
  try {
    await readJsonRows({ ...order, readPart: async (index) => inflatePart(await readStored(index)) }, batches);
    await batches.flush();
  } catch (error) {
    throw toRefusal(error) ?? error;
  }
  yield* found;
  yield { columns: {}, ...batches.summary() };
}

async function* messagesOf(
  child: ChildProcess,
  order: ReadingOrder,
  readStored: (index: number) => Promise<StoredPart>,
): AsyncGenerator<StagedBatch | DocumentNote> {
  const arrivals: Extract<FromReader, { readonly kind: 'batch' | 'end' }>[] = [];
  let failure: { readonly error: unknown } | undefined;
  let wake = (): void => {};
  const fail = (error: unknown): void => {
    failure ??= { error };
    wake();
  };
  const send = (message: ToReader): void => {
    // A send fails only when the process has ended. The event `exit` reports this end, so the failure is ignored.
    child.send(message, () => {});
  };
  let hasAsked = false;
  child.on('error', fail);
  child.on('exit', (code, signal) => {
    const isByDocument = hasAsked && !OUTER_SIGNALS.has(signal ?? '');
    fail(new ReaderDeath(`the reader process ended with ${signal ?? `exit code ${code}`}`, isByDocument));
  });
  child.on('message', (message: FromReader) => {
    hasAsked = true;
    if (message.kind === 'batch' || message.kind === 'end') {
      arrivals.push(message);
      wake();
    } else if (message.kind === 'refused') fail(new DocumentRefusal(message.code, message.message));
    else if (message.kind === 'failed') fail(new Error(`the reader process failed: ${message.reason}`));
    else readStored(message.index).then((part) => send({ kind: 'part', index: message.index, part }), fail);
  });
  send({ kind: 'read', order });
  for (;;) {
    const arrival = arrivals.shift();
    if (arrival?.kind === 'end') {
      yield arrival.note;
      return;
    }
    if (arrival) {
      yield arrival.batch;
      send({ kind: 'stored' });
    } else if (failure) throw failure.error;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
}
