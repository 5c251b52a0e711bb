/**
 * Parses stored files in worker threads, so that a large file does not block the event loop. The caller pulls chunks: the
 * thread prepares one chunk while another is written, never more, so memory does not depend on the size of the file.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { FileRefusal } from '../standard-file.ts';
import type { StoredPart } from '../upload/stored-parts.ts';
import type {
  FromParser,
  ParsedChunk,
  ParseOrder,
  ResolveAnswer,
  ResolveRequest,
  ToParser,
} from './parser-messages.ts';

/** Answers to the questions of the parser's thread. */
export interface ParseHelp {
  /** @param index from 0. */
  readPart(index: number): Promise<StoredPart>;
  /** Resolves combinations that the file has for the first time. */
  resolve(request: ResolveRequest): Promise<ResolveAnswer>;
  /** Called once, before the first chunk, with the names of unknown columns. */
  onHeader(ignored: readonly string[]): void;
}

export interface FileParser {
  /**
   * Yields the rows of a file, chunk by chunk. The memory of a chunk is reused once the next is requested.
   * @throws {FileRefusal} when the file cannot be read, or not any further; rethrows errors of `help`.
   */
  parse(order: ParseOrder, help: ParseHelp): AsyncGenerator<ParsedChunk>;
  /** Ends the idle threads. */
  close(): Promise<void>;
}

const THREAD = new URL('./parser-thread.ts', import.meta.url);
// Buffers do not count towards these limits. V8 never gives back a larger young generation, and strings here die young.
const HEAP_LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 24 };

/** Opens a pool of parser threads, which starts threads on demand and reuses them. */
export function openFileParser(): FileParser {
  const idle: Worker[] = [];
  return {
    parse: async function* (order, help) {
      const worker = idle.pop() ?? (await startThread());
      let isReusable = false;
      try {
        yield* chunksOf(worker, order, help);
        isReusable = true;
      } catch (error) {
        isReusable = error instanceof FileRefusal && error.code !== 'too_large';
        throw error;
      } finally {
        if (isReusable) idle.push(worker);
        else await worker.terminate();
      }
    },
    close: async () => {
      await Promise.all(idle.splice(0).map((worker) => worker.terminate()));
    },
  };
}

async function startThread(): Promise<Worker> {
  const worker = new Worker(THREAD, { execArgv: [], resourceLimits: HEAP_LIMITS });
  await once(worker, 'online');
  worker.unref();
  // Keeps an error during termination from ending the process.
  worker.on('error', () => {});
  return worker;
}

type Arrival = { readonly kind: 'chunk'; readonly chunk: ParsedChunk } | { readonly kind: 'end' };

async function* chunksOf(worker: Worker, order: ParseOrder, help: ParseHelp): AsyncGenerator<ParsedChunk> {
  const arrivals: Arrival[] = [];
  let isOver = false;
  let failure: { readonly error: unknown } | undefined;
  let wake = (): void => {};
  const fail = (error: unknown): void => {
    failure ??= { error };
    wake();
  };
  const arrive = (arrival: Arrival): void => {
    arrivals.push(arrival);
    wake();
  };
  const onMessage = (message: FromParser): void => {
    if (message.kind === 'chunk' || message.kind === 'end') arrive(message);
    else if (message.kind === 'refused') fail(new FileRefusal(message.code, message.message));
    else answer(message, help).then(reply, fail);
  };
  // A late answer must not reach the next file that the thread parses.
  const reply = (message: ToParser | undefined): void => {
    if (message && !isOver) send(worker, message);
  };
  const onExit = (): void => fail(new Error('the parser ended unexpectedly'));
  const onError = (error: unknown): void => fail(isOutOfMemory(error) ? tooLarge() : error);
  worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  worker.ref();
  try {
    send(worker, { kind: 'parse', order });
    for (;;) {
      const arrival = arrivals.shift();
      if (arrival?.kind === 'end') return;
      if (arrival) {
        yield arrival.chunk;
        send(worker, { kind: 'written' });
      } else if (failure) {
        throw failure.error;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    isOver = true;
    worker.off('message', onMessage).off('error', onError).off('exit', onExit);
    worker.unref();
  }
}

type Question = Exclude<FromParser, { readonly kind: 'chunk' | 'end' | 'refused' }>;

async function answer(question: Question, help: ParseHelp): Promise<ToParser | undefined> {
  switch (question.kind) {
    case 'wantPart':
      return { kind: 'part', index: question.index, part: await help.readPart(question.index) };
    case 'resolve':
      return { kind: 'resolved', answer: await help.resolve(question.request) };
    case 'header':
      help.onHeader(question.ignored);
      return undefined;
  }
}

function send(worker: Worker, message: ToParser): void {
  worker.postMessage(message);
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function tooLarge(): FileRefusal {
  return new FileRefusal('too_large', 'the file needs too much memory; split it into several files, or send it as CSV');
}
