/**
 * Child process that reads one document; `document-reader.ts` starts and ends it. A document that exhausts the memory
 * ends this process and no other.
 */
import { inflatePart } from '../../../platform/database/stored-parts.ts';
import { toRefusal } from './document-refusal.ts';
import { readJsonRows } from './json-rows.ts';
import type { FromReader, ReadingOrder, ToReader } from './reading-messages.ts';
import { RowBatches } from './row-batches.ts';
import { readWorkbookRows } from './workbook-rows.ts';

/** Number of document parts that stay in memory. One is too few, because a workbook is read at several offsets. */
const CACHED_PARTS = 4;

const parts = new Map<number, Promise<Uint8Array>>();
const waiting = new Map<number, (bytes: Uint8Array) => void>();
let onStored = (): void => {};

function send(message: FromReader): void {
  process.send?.(message);
}

// Ignores a signal to the process group, because the importer also gets the signal and ends this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit(0));
process.on('message', (message: ToReader) => {
  switch (message.kind) {
    case 'read':
      read(message.order).catch((error: unknown) => send(toFailure(error)));
      break;
    case 'part':
      waiting.get(message.index)?.(inflatePart(message.part));
      waiting.delete(message.index);
      break;
    case 'stored':
      onStored();
  }
});

async function read(order: ReadingOrder): Promise<void> {
  const { format, sizeBytes, partBytes, limits } = order;
  const lastPart = Math.ceil(sizeBytes / partBytes) - 1;
  const source = {
    ...{ sizeBytes, partBytes },
    readPart: (index: number) => {
      const part = fetchPart(index);
      if (index < lastPart) void fetchPart(index + 1);
      return part;
    },
  };
  const batches = new RowBatches(limits.maxRows, async (batch) => {
    const stored = new Promise<void>((resolve) => {
      onStored = resolve;
    });
    send({ kind: 'batch', batch });
    await stored;
  });
  const columns = await (format === 'json' ? readJsonRows(source, batches) : readWorkbookRows(source, limits, batches));
  await batches.flush();
  send({ kind: 'end', note: { columns, ...batches.summary() } });
}

function fetchPart(index: number): Promise<Uint8Array> {
  const known = parts.get(index);
  if (known) return known;
  const part = new Promise<Uint8Array>((resolve) => waiting.set(index, resolve));
  send({ kind: 'wantPart', index });
  parts.set(index, part);
  const [oldest] = parts.keys();
  if (parts.size > CACHED_PARTS && oldest !== undefined) parts.delete(oldest);
  return part;
}

function toFailure(error: unknown): FromReader {
  const refusal = toRefusal(error);
  if (refusal) return { kind: 'refused', code: refusal.code, message: refusal.message };
  return { kind: 'failed', reason: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
