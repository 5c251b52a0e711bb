/**
 * Runs mappers in child processes, a limited number at the same time; each process serves one mapper (R-D9). Does not
 * run them in threads: a thread would share the memory and secrets of this process, and a thread that ran out of memory
 * could end this process.
 */
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { DomainError } from '../../platform/errors.ts';
import { showBytes } from '../../platform/limits.ts';
import type { Log } from '../../platform/log.ts';
import { forkConfined } from '../../platform/processes/fork-confined.ts';
import { openFairSemaphore } from '../../platform/shares/fair-semaphore.ts';
import type { MapReply, MapRequest } from './mapper-process.ts';

export interface MapperLimits {
  readonly timeoutMs: number;
  readonly memoryMebibytes: number;
  /** Maximum number of mappers that run at the same time; one account may run at most half of them, rounded up. */
  readonly processes: number;
}

export interface MapperRunner {
  /**
   * Maps the body of the request. Without a body, only checks the expression.
   * @param use `key` identifies the mapper and its version; calls with the same key can share a process. A call without
   *   a key gets a new process.
   * @throws {DomainError} mapping_failed with the reason, and with the position in the expression if known;
   *   body_too_large when the answer exceeds `request.maxBytes`; queue_full when too many mappers run.
   */
  run(
    use: { readonly accountId: number; readonly key?: string },
    request: Omit<MapRequest, 'id'>,
  ): Promise<Extract<MapReply, { kind: 'mapped' | 'checked' }>>;
  close(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('./mapper-process.ts', import.meta.url));
const MAX_WAIT_MS = 5000;
const MAX_WAITING = 64;
const MAX_IDLE_MS = 60_000;

/** Opens a pool of mapper processes. A process starts when a call needs it (R-D9). */
export function openMapperRunner(limits: MapperLimits, log: Log): MapperRunner {
  const permits = openFairSemaphore({
    ...{
      resource: 'concurrent mapper runs',
      permits: limits.processes,
      permitsPerAccount: Math.ceil(limits.processes / 2),
    },
    ...{ waitersPerAccount: MAX_WAITING, maxWaitMs: MAX_WAIT_MS },
  });
  const pool = openIdlePool(limits.processes);
  return {
    run: async ({ accountId, key }, request) => {
      const leave = await permits.enter(accountId).catch((error: unknown) => {
        throw error instanceof DomainError ? new DomainError('queue_full', error.message) : error;
      });
      try {
        const child = (key === undefined ? undefined : pool.take(key)) ?? start(limits);
        const reply = await ask(child, { ...request, id: 1 }, limits);
        if (key === undefined) child.kill('SIGKILL');
        else pool.keep(accountId, key, child);
        return readReply(reply, request.maxBytes);
      } catch (error) {
        const fields = { err: error, accountId, mapper: key };
        if (!(error instanceof DomainError))
          log.warn(fields, 'a mapper could not be run; the request failed and stored nothing');
        throw error;
      } finally {
        leave();
      }
    },
    close: async () => pool.close(),
  };
}

/** Reads the reply of a mapper process. @throws {DomainError} mapping_failed, body_too_large. */
function readReply(reply: MapReply, maxBytes: number): Extract<MapReply, { kind: 'mapped' | 'checked' }> {
  switch (reply.kind) {
    case 'failed': {
      const at = reply.position === undefined ? '' : ` (at character ${reply.position} of the expression)`;
      throw new DomainError('mapping_failed', `the mapper failed: ${reply.message}${at}`);
    }
    case 'invalid_body':
      throw new DomainError('mapping_failed', reply.message);
    case 'too_large': {
      const message = `the mapped body must be at most ${showBytes(maxBytes)}, got ${reply.bytes} bytes`;
      throw new DomainError('body_too_large', message);
    }
    default:
      return reply;
  }
}

/** Opens a pool of at most `capacity` idle processes. Each process waits for the next push body of its mapper. */
function openIdlePool(capacity: number) {
  const idle = new Map<string, { readonly accountId: number; readonly child: ChildProcess }>();
  const take = (key: string): ChildProcess | undefined => {
    const child = idle.get(key)?.child;
    idle.delete(key);
    return child?.connected ? child : undefined;
  };
  /**
   * When the pool is full, kills the oldest idle process of the account with the most idle processes, so that one
   * account does not displace the processes of other accounts. The process to add counts as idle too.
   * @param added account of the process to add.
   */
  const makeRoom = (added: number): void => {
    if (idle.size < capacity) return;
    const counts = new Map<number, number>([[added, 1]]);
    for (const { accountId } of idle.values()) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
    const most = Math.max(...[...idle.values()].map(({ accountId }) => counts.get(accountId) ?? 0));
    const oldest = [...idle].find(([, { accountId }]) => counts.get(accountId) === most)?.[0];
    if (oldest !== undefined) take(oldest)?.kill('SIGKILL');
  };
  return {
    take,
    keep: (accountId: number, key: string, child: ChildProcess): void => {
      take(key)?.kill('SIGKILL');
      makeRoom(accountId);
      idle.set(key, { accountId, child });
      setTimeout(() => {
        if (idle.get(key)?.child === child) take(key)?.kill('SIGKILL');
      }, MAX_IDLE_MS).unref();
    },
    close: (): void => {
      for (const key of [...idle.keys()]) take(key)?.kill('SIGKILL');
    },
  };
}

function start({ memoryMebibytes }: MapperLimits): ChildProcess {
  const child = forkConfined({
    program: PROGRAM,
    readable: ['src/push/mapper/', 'src/platform/json/json-text.ts'],
    heapMebibytes: memoryMebibytes,
    bufferMebibytes: 0,
  });
  child.unref();
  child.on('error', () => child.kill('SIGKILL'));
  return child;
}

function ask(child: ChildProcess, request: MapRequest, limits: MapperLimits): Promise<MapReply> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      end(new DomainError('mapping_failed', `the mapper must end within ${limits.timeoutMs} ms`));
    }, limits.timeoutMs);
    const end = (error: Error | undefined, reply?: MapReply): void => {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onExit);
      if (reply) {
        resolve(reply);
        return;
      }
      child.kill('SIGKILL');
      reject(error);
    };
    const onMessage = (reply: unknown): void => end(undefined, reply as MapReply);
    const onExit = (): void => {
      const limit = `the mapper may have exceeded its limit of ${limits.memoryMebibytes} MiB of memory`;
      end(new DomainError('mapping_failed', `the mapper ended before it answered; ${limit}`));
    };
    child.once('message', onMessage);
    child.once('exit', onExit);
    child.send(request, (error) => {
      if (error) end(error);
    });
  });
}
