/**
 * Life cycle of the zygote, the warm R process from which runs are forked: start it, wait until it listens, watch its
 * heartbeat, replace it when it dies or is stuck, stop it. A standby is a second zygote, started in advance to replace
 * the first. Without a standby, a new zygote is started after a pause, which grows with each failed start.
 */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../platform/log.ts';
import type { ZygoteMetrics } from '../calculation-metrics.ts';
import { type Container, killContainer, type Launcher } from './launcher.ts';
import { SandboxUnavailableError } from './sandbox-types.ts';

const START_TIMEOUT_MS = 60_000;
const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 30_000;
const KEPT_LINES = 20;
/** The zygote sends a heartbeat every 0.5 s (r-runtime/src/zygote.c). */
const CHECK_INTERVAL_MS = 500;
/** A zygote is replaced after this many checks without a heartbeat. */
const SILENT_CHECKS = 4;
/**
 * Default pause before a standby starts. It is 0, because only a standby that already runs can replace a stuck zygote
 * immediately.
 */
const STANDBY_DELAY_MS = 0;

interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
}

export class Zygote {
  readonly #launcher: Launcher;
  readonly #log: Log;
  readonly #metrics: ZygoteMetrics;
  /** True while the zygote `#current` runs and sends its heartbeat. */
  #isAlive = false;
  readonly #closing = new AbortController();
  /**
   * Resolves to the container that serves, once the container has started. When the container ends, a new promise
   * replaces this one. A promise rejects when the first start fails, and when the zygote is closed before a replacement
   * has started.
   */
  #serving: Promise<Container>;
  /** The container that serves; undefined while no container serves. Every other started container is a standby. */
  #current: Container | undefined;
  #standby: Container | undefined;
  /** Settles when the start of a standby has succeeded or failed. */
  #starting: Promise<void> | undefined;
  /** Settles when the preparation of a standby (the pause, then the start) has ended. */
  #preparing: Promise<void> | undefined;
  #backoffMs = FIRST_BACKOFF_MS;
  readonly #standbyDelayMs: number;

  private constructor(launcher: Launcher, metrics: ZygoteMetrics, log: Log, standbyDelayMs: number) {
    this.#standbyDelayMs = standbyDelayMs;
    this.#launcher = launcher;
    this.#metrics = metrics;
    this.#log = log;
    this.#serving = this.#startServing();
    metrics.watch(() => this.#isAlive);
  }

  /**
   * @param standbyDelayMs pause before the start of each standby except the first.
   * @param firstStandbyDelayMs pause before the start of the first standby.
   * @throws {SandboxUnavailableError} when R does not become ready, or ends immediately afterwards. If R does not
   *   become ready, the message contains the last lines of R's standard error.
   */
  static async open(
    launcher: Launcher,
    metrics: ZygoteMetrics,
    log: Log,
    standbyDelayMs = STANDBY_DELAY_MS,
    firstStandbyDelayMs = standbyDelayMs,
  ): Promise<Zygote> {
    const zygote = new Zygote(launcher, metrics, log, standbyDelayMs);
    try {
      await zygote.#serving;
      zygote.#prepareStandby(firstStandbyDelayMs);
      return zygote;
    } catch (error) {
      await zygote.close();
      throw error;
    }
  }

  /** Waits while R restarts. @returns the path of the socket. */
  async socketPath(): Promise<string> {
    return (await this.#serving).socketPath;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#preparing;
    if (this.#standby) await stop(this.#standby);
    const container = await this.#serving.catch(() => null);
    if (container) await stop(container);
  }

  async #start(): Promise<Container> {
    const container = await this.#launcher.launch();
    // `close()` kills a container that is still starting: it does not wait until R is ready.
    const kill = () => killContainer(container);
    this.#closing.signal.addEventListener('abort', kill, { once: true });
    try {
      this.#closing.signal.throwIfAborted();
      await untilReady(container.process, this.#log);
      if (hasEnded(container)) {
        const { exitCode, signalCode } = container.process;
        const how = describeEnd(exitCode, signalCode);
        throw new SandboxUnavailableError(`R became ready in its sandbox, but ${how} immediately afterwards`);
      }
    } catch (error) {
      await stop(container);
      throw error;
    } finally {
      this.#closing.signal.removeEventListener('abort', kill);
    }
    this.#backoffMs = FIRST_BACKOFF_MS;
    this.#metrics.started.inc();
    const stopWatching = watchHeartbeat(container.process, (silentMs) => this.#killStuck(container, silentMs));
    container.process.once('exit', (code, signal) => {
      stopWatching();
      if (container === this.#current) this.#revive(container, { code, signal });
      else this.#dropStandby(container, { code, signal });
    });
    return container;
  }

  async #startServing(): Promise<Container> {
    this.#current = await this.#start();
    this.#isAlive = true;
    return this.#current;
  }

  /**
   * Starts a standby after a pause, unless a standby exists or is being started. After a failed start, no standby is
   * started until the zygote is next replaced.
   */
  #prepareStandby(delayMs = this.#standbyDelayMs): void {
    if (this.#standby) return;
    this.#preparing ??= this.#startStandby(delayMs)
      .catch((error: unknown) => {
        if (this.#closing.signal.aborted) return;
        this.#log.warn(
          { err: error },
          'a standby of the R zygote could not be started; another attempt follows when the zygote is next replaced',
        );
      })
      .finally(() => {
        this.#preparing = undefined;
      });
  }

  async #startStandby(delayMs: number): Promise<void> {
    await pause(delayMs, undefined, { signal: this.#closing.signal, ref: false });
    this.#starting = this.#start().then((container) => {
      this.#standby = container;
    });
    await this.#starting.finally(() => {
      this.#starting = undefined;
    });
  }

  #dropStandby(container: Container, how: Ending): void {
    if (this.#standby === container) this.#standby = undefined;
    if (this.#closing.signal.aborted) return;
    this.#log.warn(
      { ...how, pid: container.process.pid },
      'the standby of the R zygote ended; a new standby is started',
    );
    void container.remove().catch(() => undefined);
    this.#prepareStandby();
  }

  /**
   * Kills the container; its exit then starts another container. A stuck standby is dropped immediately, so that it
   * never serves.
   */
  #killStuck(container: Container, silentMs: number): void {
    const isStandby = container !== this.#current;
    if (isStandby) this.#standby = undefined;
    else this.#isAlive = false;
    this.#metrics.stuck.inc();
    const { pid } = container.process;
    this.#log.error({ pid, silentMs, isStandby }, 'the R zygote stopped sending heartbeats and is killed');
    killContainer(container);
  }

  #revive(container: Container, how: Ending): void {
    this.#current = this.#standby;
    this.#isAlive = this.#current !== undefined;
    if (this.#closing.signal.aborted) return;
    this.#metrics.died.inc();
    const standby = this.#standby;
    const { pid } = container.process;
    this.#log.error(
      { ...how, pid, hasStandby: standby !== undefined },
      'the R zygote ended; another zygote replaces it',
    );
    this.#standby = undefined;
    if (standby) {
      this.#serving = Promise.resolve(standby);
      void container.remove().catch(() => undefined);
      this.#prepareStandby();
      return;
    }
    // If the removal fails, files or a control group remain. R must start again even so.
    const removed = container.remove().catch(() => undefined);
    this.#serving = removed.then(() => this.#awaitStandby());
    // Callers of `socketPath` get the error. Without a caller, the unhandled rejection must not end the process.
    this.#serving.catch(() => undefined);
  }

  /** Waits for the standby that is starting: a new start would take longer. Without a standby, starts a container. */
  async #awaitStandby(): Promise<Container> {
    await this.#starting?.catch(() => undefined);
    const standby = this.#standby;
    if (!standby) return this.#startAgain();
    this.#standby = undefined;
    this.#current = standby;
    this.#isAlive = true;
    // Waits for `#preparing` first, because `#prepareStandby` does nothing while `#preparing` is pending.
    void Promise.resolve(this.#preparing).then(() => this.#prepareStandby());
    return standby;
  }

  async #startAgain(): Promise<Container> {
    for (;;) {
      await pause(this.#backoffMs, undefined, { signal: this.#closing.signal });
      this.#backoffMs = Math.min(this.#backoffMs * 2, MAX_BACKOFF_MS);
      try {
        const container = await this.#startServing();
        this.#prepareStandby();
        return container;
      } catch (error) {
        if (this.#closing.signal.aborted) throw error;
        this.#log.error(
          { err: error, pauseMs: this.#backoffMs },
          'the R zygote could not be restarted; runs wait, and the next try follows after pauseMs',
        );
      }
    }
  }
}

/**
 * Calls `onSilence` once, after `SILENT_CHECKS` consecutive checks without a new heartbeat. Checks are counted, and not
 * the time, because the event loop of this process may have been blocked for that time.
 * @returns a function that stops watching.
 */
function watchHeartbeat(child: ChildProcess, onSilence: (silentMs: number) => void): () => void {
  let silentChecks = 0;
  const hear = () => {
    silentChecks = 0;
  };
  child.stdout?.on('data', hear);
  const timer = setInterval(() => {
    silentChecks += 1;
    if (silentChecks < SILENT_CHECKS) return;
    stopWatching();
    onSilence(silentChecks * CHECK_INTERVAL_MS);
  }, CHECK_INTERVAL_MS);
  const stopWatching = () => {
    clearInterval(timer);
    child.stdout?.off('data', hear);
  };
  return stopWatching;
}

function hasEnded({ process: { exitCode, signalCode } }: Container): boolean {
  return exitCode !== null || signalCode !== null;
}

function describeEnd(code: number | null, signal: string | null): string {
  return `ended with ${signal ?? `exit code ${code}`}`;
}

async function stop(container: Container): Promise<void> {
  const { process: child } = container;
  if (child.pid !== undefined && !hasEnded(container)) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    killContainer(container);
    await ended;
  }
  await container.remove();
}

function untilReady(child: ChildProcess, log: Log): Promise<void> {
  const errorLines = keepStderr(child, log);
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer);
      reject(new SandboxUnavailableError([`R could not be started in its sandbox: ${why}`, ...errorLines].join('\n')));
    };
    const timer = setTimeout(() => fail(`it was not ready after ${START_TIMEOUT_MS / 1000} s`), START_TIMEOUT_MS);
    child.once('error', (error) => fail(error.message));
    child.once('close', (code, signal) => fail(`it ${describeEnd(code, signal)}`));
    if (!child.stdout) return fail('the standard output of the R process is not connected');
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line !== 'ready') return;
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Logs standard error and keeps its last lines for the message of a failed start. */
function keepStderr(child: ChildProcess, log: Log): string[] {
  const lines: string[] = [];
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      if (lines.length > KEPT_LINES) lines.shift();
      log.warn({ pid: child.pid, line }, 'the R sandbox wrote a line to standard error');
    });
  }
  return lines;
}
