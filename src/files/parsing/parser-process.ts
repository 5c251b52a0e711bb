/**
 * Child process that parses files, one at a time; `file-parser.ts` starts this process. When a file exhausts the
 * memory, only this process ends.
 */
import { inflatePart } from '../../platform/database/stored-parts.ts';
import { readCsv } from '../csv/read-csv.ts';
import { FileRefusal, TOO_LARGE } from '../standard-file.ts';
import { readXlsx } from '../xlsx/read-xlsx.ts';
import { ChunkWindow } from './chunk-window.ts';
import type { EmitRows, FileSource } from './parse-job.ts';
import type { FromParser, ParseOrder, ResolveAnswer, ToParser } from './parser-messages.ts';
import type { RowCollector } from './row-collector.ts';

// Maximum number of parts in memory. A workbook is read at several offsets, because its ZIP directory, its shared
// strings and its sheet may be in different parts.
const CACHED_PARTS = 4;

const waitingForParts = new Map<number, (bytes: Uint8Array) => void>();
const parts = new Map<number, Promise<Uint8Array>>();
let waitingForAnswer: ((answer: ResolveAnswer) => void) | undefined;
const window = new ChunkWindow();

function send(message: FromParser): void {
  process.send?.(message);
}

// A signal to the process group, such as Ctrl-C, also reaches this process. This process ignores the signal: the
// ingester first writes the chunk in progress, and then kills this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit(0));
process.on('message', (message: ToParser) => {
  switch (message.kind) {
    case 'parse':
      parse(message.order).then(
        () => send({ kind: 'end' }),
        (error: unknown) => send(toFailure(error)),
      );
      break;
    case 'part':
      waitingForParts.get(message.index)?.(inflatePart(message.part));
      waitingForParts.delete(message.index);
      break;
    case 'resolved':
      waitingForAnswer?.(message.answer);
      break;
    case 'written':
      window.release();
  }
});

function toFailure(error: unknown): FromParser {
  if (error instanceof FileRefusal) return { kind: 'refused', code: error.code, message: error.message };
  // V8 throws RangeError for a string that is too long, and for a buffer that is too long or finds no free memory.
  if (error instanceof RangeError) return { kind: 'refused', code: 'too_large', message: TOO_LARGE };
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  return { kind: 'failed', reason, code };
}

async function parse(order: ParseOrder): Promise<void> {
  // Forgets the parts of the previous file, including parts that were requested but have not arrived.
  parts.clear();
  waitingForParts.clear();
  const { format, sizeBytes, partBytes, limits, from } = order;
  const lastPart = Math.ceil(sizeBytes / partBytes) - 1;
  const source: FileSource = {
    ...{ format, sizeBytes, partBytes },
    readPart: (index) => {
      const part = fetchPart(index);
      if (index < lastPart) void fetchPart(index + 1);
      return part;
    },
  };
  const onHeader = ({ ignored }: { readonly ignored: readonly string[] }) => send({ kind: 'header', ignored });
  await (format === 'csv' ? readCsv : readXlsx)({ source, limits, from, onHeader, emit });
}

function fetchPart(index: number): Promise<Uint8Array> {
  const known = parts.get(index);
  if (known) return known;
  const part = new Promise<Uint8Array>((resolve) => waitingForParts.set(index, resolve));
  send({ kind: 'wantPart', index });
  parts.set(index, part);
  const [oldest] = parts.keys();
  if (parts.size > CACHED_PARTS && oldest !== undefined) parts.delete(oldest);
  return part;
}

const emit: EmitRows = async (collector, position, isLast) => {
  await resolveAll(collector);
  await window.take();
  const { tuples, ...counts } = collector.encode(window.allocate);
  send({ kind: 'chunk', range: window.write(tuples), chunk: { ...counts, position, isLast } });
};

async function resolveAll({ targets, labels }: RowCollector): Promise<void> {
  const request = { targets: targets.unresolved(), labels: labels.unresolved() };
  if (request.targets.length === 0 && request.labels.length === 0) return;
  const answer = await new Promise<ResolveAnswer>((resolve) => {
    waitingForAnswer = resolve;
    send({ kind: 'resolve', request });
  });
  for (const { id, target } of answer.targets) targets.resolve(id, target);
  for (const { id, ids } of answer.labels) labels.resolve(id, ids);
}
