/**
 * Parses a stored file in a thread of its own, so that a large file holds up nobody. The chunks are pulled: while one is
 * written the next is prepared, never more, whatever the size of the file.
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

/** What the parser needs from outside while it reads. */
export interface ParseHelp {
  readPart(index: number): Promise<StoredPart>;
  resolve(request: ResolveRequest): Promise<ResolveAnswer>;
  /** Told once, before the first chunk. */
  onHeader(ignored: readonly string[]): void;
}

export interface FileParser {
  /**
   * The rows of a file, chunk by chunk; the memory of one is used again when the next is asked for.
   * @throws FileRefusal when it cannot be read, or not further; what `help` throws.
   */
  parse(order: ParseOrder, help: ParseHelp): AsyncGenerator<ParsedChunk>;
  /** Ends the threads that wait for work. */
  close(): Promise<void>;
}

const THREAD = new URL('./parser-thread.ts', import.meta.url);
// Buffers are not counted here. Young texts are many and die at once: more room for them is never given back.
const HEAP_LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 24 };

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
  // An error that comes while the thread is being ended concerns nobody any more.
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
  // What comes too late must not be taken for an answer to what the next file asks.
  const reply = (told: ToParser | undefined): void => {
    if (told && !isOver) tell(worker, told);
  };
  const onExit = (): void => fail(new Error('the parser ended unexpectedly'));
  const onError = (error: unknown): void => fail(isOutOfMemory(error) ? tooLarge() : error);
  worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  worker.ref();
  try {
    tell(worker, { kind: 'parse', order });
    for (;;) {
      const arrival = arrivals.shift();
      if (arrival?.kind === 'end') return;
      if (arrival) {
        yield arrival.chunk;
        tell(worker, { kind: 'written' });
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

function tell(worker: Worker, message: ToParser): void {
  worker.postMessage(message);
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function tooLarge(): FileRefusal {
  return new FileRefusal('too_large', 'the file needs too much memory; please send it in several files, or as CSV');
}
