/**
 * Runs mappers in child processes, one per mapper, a limited number at a time (R-D9). A thread would share the memory and
 * secrets of this process, and running out of memory in it would end the process.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DomainError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { openSemaphore } from '../semaphore.ts';
import type { MapReply, MapRequest } from './mapper-process.ts';

export interface MapperLimits {
  readonly timeoutMs: number;
  readonly memoryMebibytes: number;
  /** Maximum number of mappers that run at the same time. */
  readonly processes: number;
}

export interface MapperRunner {
  /**
   * Maps a body, or only checks an expression.
   * @param key identifies a mapper in one version, whose process may be reused; undefined: use a new process once.
   * @throws {DomainError} mapping_failed with the reason and position; queue_full when too many mappers run.
   */
  run(
    key: string | undefined,
    request: Omit<MapRequest, 'id'>,
  ): Promise<Extract<MapReply, { kind: 'mapped' | 'checked' }>>;
  close(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('./mapper-process.ts', import.meta.url));
const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));
const MAX_WAIT_MS = 5000;
const MAX_IDLE_MS = 60_000;

/** Opens a pool of mapper processes; they start when first needed (R-D9). */
export function openMapperRunner(limits: MapperLimits, log: Log): MapperRunner {
  const slots = openSemaphore(limits.processes, MAX_WAIT_MS);
  const idle = new Map<string, ChildProcess>();

  const keep = (key: string, child: ChildProcess): void => {
    const oldest = idle.size >= limits.processes ? idle.keys().next().value : undefined;
    if (oldest !== undefined) take(oldest)?.kill('SIGKILL');
    idle.set(key, child);
    setTimeout(() => {
      if (idle.get(key) === child) take(key)?.kill('SIGKILL');
    }, MAX_IDLE_MS).unref();
  };
  const take = (key: string): ChildProcess | undefined => {
    const child = idle.get(key);
    idle.delete(key);
    return child?.connected ? child : undefined;
  };

  return {
    run: async (key, request) => {
      if (!(await slots.enter())) throw new DomainError('queue_full', 'too many mappers are running; try again later');
      const child = (key === undefined ? undefined : take(key)) ?? start(limits);
      try {
        const reply = await ask(child, { ...request, id: 1 }, limits);
        if (key === undefined) child.kill('SIGKILL');
        else keep(key, child);
        if (reply.kind !== 'failed') return reply;
        const at = reply.position === undefined ? '' : ` (at character ${reply.position})`;
        throw new DomainError('mapping_failed', `the mapper failed: ${reply.message}${at}`);
      } catch (error) {
        if (!(error instanceof DomainError)) log.warn({ err: error }, 'running a mapper failed');
        throw error;
      } finally {
        slots.leave();
      }
    },
    close: async () => {
      for (const key of [...idle.keys()]) take(key)?.kill('SIGKILL');
    },
  };
}

function start({ memoryMebibytes }: MapperLimits): ChildProcess {
  const readable = [
    `${CHECKOUT}src/push/mapper/`,
    `${CHECKOUT}package.json`,
    `${CHECKOUT}node_modules`,
    realpathSync(`${CHECKOUT}node_modules`),
  ];
  const child = fork(PROGRAM, [], {
    env: {},
    execArgv: [
      `--max-old-space-size=${memoryMebibytes}`,
      '--disallow-code-generation-from-strings',
      '--permission',
      ...readable.map((path) => `--allow-fs-read=${path}`),
      '--no-warnings',
    ],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
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
      const limit = `it may take at most ${limits.memoryMebibytes} MiB of memory`;
      end(new DomainError('mapping_failed', `the process of the mapper ended early; ${limit}`));
    };
    child.once('message', onMessage);
    child.once('exit', onExit);
    child.send(request, (error) => {
      if (error) end(error);
    });
  });
}
