/**
 * Parses stored files in child processes, so that a hostile file can end only its parser, not the ingester, and a large
 * file does not block the event loop of the ingester. The caller pulls chunks. While the caller writes a chunk, the
 * parser prepares at most the next two chunks, so memory does not depend on the size of the file.
 */
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { StoredPart } from '../../platform/database/stored-parts.ts';
import { forkConfined } from '../../platform/processes/fork-confined.ts';
import { FileRefusal } from '../standard-file.ts';
import { type ChunkFile, openChunkFile } from './chunk-file.ts';
import type {
  FromParser,
  ParsedChunk,
  ParseOrder,
  ResolveAnswer,
  ResolveRequest,
  ToParser,
} from './parser-messages.ts';

/** Answers the requests that a parser process makes while it parses a file. */
export interface ParseHelp {
  /** Reads a part of the file. @param index index of the part, from 0. */
  readPart(index: number): Promise<StoredPart>;
  /**
   * Finds the target of each combination of identifiers, or the reason why the combination has no target. Also finds
   * the label ids of each combination of VersionTag and tags. The parser sends a combination when the combination is
   * new in the file, or when the parser has forgotten it.
   */
  resolve(request: ResolveRequest): Promise<ResolveAnswer>;
  /** Called at most once, before the first chunk, with the names of unknown columns. */
  onHeader(ignored: readonly string[]): void;
}

export interface FileParser {
  /**
   * Yields the rows of a file, chunk by chunk. A chunk is valid until the next chunk is requested.
   * @throws {FileRefusal} when the file cannot be read to its end.
   * @throws {ParserDeath} when the parser process ended before it had parsed the file.
   * @throws {Error} when the parser process cannot be started, when the chunk file cannot be created or read, when the
   *   parser reports a bug or a fault of the machine, or when `help` throws.
   */
  parse(order: ParseOrder, help: ParseHelp): AsyncGenerator<ParsedChunk>;
  /** Ends the idle parser processes. */
  close(): Promise<void>;
}

/** The parser process ended before it had parsed its file. */
export class ParserDeath extends Error {
  override readonly name = 'ParserDeath';
  /** True when the file may have caused the end of the process, usually by exhausting the memory (R-A15). */
  readonly isByFile: boolean;

  constructor(message: string, isByFile: boolean) {
    super(message);
    this.isByFile = isByFile;
  }
}

/** The signals that a parser gets from an operator, from a shutdown, or from a kernel that has no free memory left. */
const OUTER_SIGNALS: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']);

const PROGRAM = fileURLToPath(new URL('./parser-process.ts', import.meta.url));
// Maximum heap of a parser. A parser that exceeds this heap aborts, which counts against the file. The maximum is far
// below the memory of the container, because a kill by the kernel would not count against the file.
const HEAP_MEBIBYTES = 192;
// Maximum memory for the buffers of a parser outside its heap: parts of the file, their inflated bytes, the shared
// strings of a workbook, and one chunk. The memory of Node itself is not included.
const BUFFER_MEBIBYTES = 128;
const MAX_IDLE_MS = 60_000;

interface Parser {
  readonly child: ChildProcess;
  readonly chunkFile: ChunkFile;
}

/** Opens a pool that starts parser processes on demand and reuses them. */
export function openFileParser(heapMebibytes = HEAP_MEBIBYTES): FileParser {
  const idle: Parser[] = [];
  const keep = (parser: Parser): void => {
    // Clears the chunk file to free memory: a file on a tmpfs takes up memory, and several parsers may be idle.
    parser.chunkFile.clear();
    idle.push(parser);
    setTimeout(() => {
      const at = idle.indexOf(parser);
      if (at >= 0) idle.splice(at, 1)[0]?.child.kill('SIGKILL');
    }, MAX_IDLE_MS).unref();
  };
  return {
    parse: async function* (order, help) {
      const parser = takeLiving(idle) ?? startParser(heapMebibytes);
      let isReusable = false;
      try {
        yield* chunksOf(parser, order, help);
        isReusable = true;
      } catch (error) {
        isReusable = error instanceof FileRefusal && error.code !== 'too_large';
        throw error;
      } finally {
        if (isReusable) keep(parser);
        else parser.child.kill('SIGKILL');
      }
    },
    close: async () => {
      for (const { child } of idle.splice(0)) child.kill('SIGKILL');
    },
  };
}

/**
 * Takes the most recently used process, so that surplus processes stay idle until the pool ends them. Skips
 * processes that have ended.
 */
function takeLiving(idle: Parser[]): Parser | undefined {
  for (let parser = idle.pop(); parser; parser = idle.pop()) if (parser.child.connected) return parser;
  return undefined;
}

function startParser(heapMebibytes: number): Parser {
  const chunkFile = openChunkFile();
  const child = forkConfined({
    program: PROGRAM,
    readable: ['src/'],
    ...{ heapMebibytes, bufferMebibytes: BUFFER_MEBIBYTES },
    // Limits the young generation of the heap, because a parser's strings live only briefly.
    options: ['--max-semi-space-size=8'],
    descriptor: chunkFile.descriptor,
  });
  holdLoop(child, false);
  // This listener also exists while the parser is idle; without a listener, an `error` event would end this process.
  child.on('error', () => child.kill('SIGKILL'));
  child.on('close', () => chunkFile.close());
  return { child, chunkFile };
}

type Arrival = Extract<FromParser, { readonly kind: 'chunk' | 'end' }>;

async function* chunksOf(
  { child, chunkFile }: Parser,
  order: ParseOrder,
  help: ParseHelp,
): AsyncGenerator<ParsedChunk> {
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
  let hasAsked = false;
  const onMessage = (message: FromParser): void => {
    hasAsked = true;
    if (message.kind === 'chunk' || message.kind === 'end') arrive(message);
    else if (message.kind === 'refused') fail(new FileRefusal(message.code, message.message));
    else if (message.kind === 'failed')
      fail(Object.assign(new Error(`the parser failed: ${message.reason}`), { code: message.code }));
    else answer(message, help).then(reply, fail);
  };
  // No answer is sent after the end of a file, because the parser may already be parsing the next file.
  const reply = (message: ToParser | undefined): void => {
    if (message && !isOver) send(child, message);
  };
  const onExit = (code: number | null, signal: string | null): void =>
    fail(
      new ParserDeath(
        `the parser process ended with ${signal ?? `exit code ${code}`}`,
        hasAsked && !OUTER_SIGNALS.has(signal ?? ''),
      ),
    );
  // Node.js emits `error` without `exit` when it cannot start the process, for example at the limit of processes.
  child.on('message', onMessage).on('exit', onExit).on('error', fail);
  holdLoop(child, true);
  try {
    send(child, { kind: 'parse', order });
    for (;;) {
      const arrival = arrivals.shift();
      if (arrival?.kind === 'end') return;
      if (arrival) {
        yield { ...arrival.chunk, tuples: await chunkFile.read(arrival.range) };
        send(child, { kind: 'written' });
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
    child.off('message', onMessage).off('exit', onExit).off('error', fail);
    holdLoop(child, false);
  }
}

/** Sets whether the child process keeps the event loop of this process alive. */
function holdLoop(child: ChildProcess, isHeld: boolean): void {
  for (const handle of [child, child.channel]) isHeld ? handle?.ref() : handle?.unref();
}

type Question = Exclude<FromParser, { readonly kind: 'chunk' | 'end' | 'refused' | 'failed' }>;

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

function send(child: ChildProcess, message: ToParser): void {
  // Ignores a failure to send: the event `exit` reports the end of the process.
  child.send(message, () => {});
}
