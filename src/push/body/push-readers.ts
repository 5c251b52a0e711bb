/**
 * Reads small push bodies on the event loop, and large bodies in a pool of worker threads. If a thread dies, the pushes
 * that still need it fail with 503, and a later large push starts a new thread.
 */
import { Worker } from 'node:worker_threads';
import { DomainError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { EncodedPush, EncodeInput } from './encode-push.ts';
import type { PushLimits } from './push-element.ts';
import type { PushReply, PushRequest } from './push-worker.ts';
import { type PushSummary, readPush } from './read-push.ts';

/** A `ReadPush` that this thread or a worker thread holds. Call `release` when the push is no longer needed. */
export interface OpenPush {
  readonly summary: PushSummary;
  encode(input: EncodeInput): Promise<EncodedPush> | EncodedPush;
  elementTexts(indexes: readonly number[]): Promise<readonly string[]> | readonly string[];
  release(): void;
}

export interface PushReaders {
  /**
   * @param bytes the body; the caller must not use it afterwards, because a large body is transferred to a thread.
   * @param withHash true to compute `PushSummary.bodyHash`.
   * @throws {DomainError} the errors of `readPush`; dependency_unavailable when the thread dies.
   */
  read(bytes: Uint8Array<ArrayBuffer>, withHash: boolean): Promise<OpenPush>;
  close(): Promise<void>;
}

export interface PushReaderOptions {
  readonly limits: PushLimits;
  /** Number of threads for large pushes; each starts when it is first needed. */
  readonly threads: number;
  readonly log: Log;
}

// Maximum size of a body to parse on the event loop. Parsing such a body is so fast that a thread would add latency.
const MAX_INLINE_BYTES = 128 * 1024;

/** Opens a `PushReaders`, which parses large push bodies in `threads` worker threads, off the event loop. */
export function openPushReaders({ limits, threads, log }: PushReaderOptions): PushReaders {
  const pool = Array.from({ length: threads }, () => new PushThread(log));
  return {
    read: async (bytes, withHash) => {
      if (bytes.byteLength > MAX_INLINE_BYTES) return leastBusy(pool).read(bytes, limits, withHash);
      return { ...readPush(bytes, limits, withHash), release: () => {} };
    },
    close: async () => {
      await Promise.all(pool.map((thread) => thread.close()));
    },
  };
}

function leastBusy(pool: readonly PushThread[]): PushThread {
  return pool.reduce((best, thread) => (thread.load < best.load ? thread : best));
}

interface Waiting {
  readonly resolve: (reply: PushReply) => void;
  readonly reject: (error: unknown) => void;
}

type Question = Extract<PushRequest, { kind: 'read' | 'encode' | 'elementTexts' }>;

class PushThread {
  readonly #log: Log;
  #worker: Worker | undefined;
  #waiting = new Map<number, Waiting>();
  #nextId = 1;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Number of requests to the thread that have no answer yet. */
  get load(): number {
    return this.#waiting.size;
  }

  async read(bytes: Uint8Array<ArrayBuffer>, limits: PushLimits, withHash: boolean): Promise<OpenPush> {
    const id = this.#nextId++;
    const worker = this.#start();
    // This body is large, so it has an ArrayBuffer of its own to transfer; small bodies may share a pooled ArrayBuffer.
    const reply = await this.#ask(worker, { kind: 'read', id, bytes, limits, withHash }, [bytes.buffer]);
    if (reply.kind !== 'summary') throw toError(reply);
    return {
      summary: reply.summary,
      encode: async (input) => {
        const answer = await this.#ask(worker, { kind: 'encode', id, input });
        if (answer.kind !== 'encoded') throw toError(answer);
        const { tuples, ...encoded } = answer.encoded;
        return { ...encoded, tuples: Buffer.from(tuples.buffer, tuples.byteOffset, tuples.byteLength) };
      },
      elementTexts: async (indexes) => {
        const answer = await this.#ask(worker, { kind: 'elementTexts', id, indexes: indexes });
        if (answer.kind !== 'elementTexts') throw toError(answer);
        return answer.texts;
      },
      release: () => worker.postMessage({ kind: 'forget', id } satisfies PushRequest),
    };
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #ask(worker: Worker, question: Question, transfer: readonly ArrayBuffer[] = []): Promise<PushReply> {
    if (this.#worker !== worker) return Promise.reject(lost());
    return new Promise((resolve, reject) => {
      this.#waiting.set(question.id, { resolve, reject });
      worker.postMessage(question, transfer);
    });
  }

  #start(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(new URL('./push-worker.ts', import.meta.url));
    worker.unref();
    worker.on('message', (reply: PushReply) => {
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      waiting?.resolve(reply);
    });
    worker.on('error', (error) => this.#fail(worker, error));
    worker.on('exit', () => this.#fail(worker, new Error('the push reader thread exited')));
    this.#worker = worker;
    return worker;
  }

  #fail(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    if (waiting.length === 0) return;
    this.#log.warn(
      { err: error, pushes: waiting.length },
      'a push reader thread ended; the pushes that waited for its answer fail with 503; clients can send them again',
    );
    for (const { reject } of waiting) reject(lost());
  }
}

function lost(): DomainError {
  return new DomainError('dependency_unavailable', 'reading the push was interrupted; send the request again');
}

function toError(reply: PushReply): unknown {
  if (reply.kind === 'refused') return new DomainError(reply.error.code, reply.error.message, reply.error.details);
  return reply.kind === 'failed' ? reply.error : new Error(`unexpected reply from a push reader thread: ${reply.kind}`);
}
