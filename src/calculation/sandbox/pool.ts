/**
 * Runs scripts of calculated variables in the sandbox (R-H7): chooses the launcher, checks the isolation, keeps a
 * zygote, and decides how each run ended. Each run is a fork of the zygote. The caller interprets the output and limits
 * how many runs take place at the same time.
 */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import { createZygoteMetrics } from '../calculation-metrics.ts';
import type { SharedLimits } from './control-group.ts';
import { ConnectError, exchange } from './exchange.ts';
import { encodeRequest } from './frame.ts';
import type { Launcher } from './launcher.ts';
import { createBwrapLauncher } from './launcher-bwrap.ts';
import { createNoneLauncher } from './launcher-none.ts';
import { createOciLauncher } from './launcher-oci.ts';
import { ensureImage } from './oci-image.ts';
import { decideOutcome } from './outcome.ts';
import { openResultDecoder, type ResultDecoder } from './results/result-decoder.ts';
import { type RunLimits, type SandboxJob, type SandboxOutcome, SandboxUnavailableError } from './sandbox-types.ts';
import { checkHealth, proveIsolation } from './self-check.ts';
import { type Answer, encodeRunHeader } from './wire.ts';
import { Zygote } from './zygote.ts';

/** Milliseconds that a run may take beyond its wall limit, for set-up and for the transfer of a large answer. */
const GRACE_MS = 60_000;
/** Extra processes that `sharedLimits` allows for the zygote, the supervisors and the waiting runners. */
const OWN_PROCESSES = 64;
const CONNECT_PATIENCE_MS = 30_000;
const CONNECT_RETRY_MS = 100;

export interface SandboxPool {
  /**
   * Runs one script. A script that fails is an outcome, not an exception.
   * @throws the signal's reason when the signal aborts the run, which is then killed.
   * @throws {SandboxUnavailableError} when R refuses connections for 30 s; in this case the script has not run.
   */
  run(job: SandboxJob, signal?: AbortSignal): Promise<SandboxOutcome>;
  /** Runs a trivial script. @throws {SandboxUnavailableError} when it fails. */
  checkHealth(): Promise<void>;
  close(): Promise<void>;
}

type SandboxConfig = Pick<
  Config,
  | 'R_ROOT'
  | 'SANDBOX'
  | 'SANDBOX_ALLOW_NONE'
  | 'SANDBOX_OCI_COMMAND'
  | 'SANDBOX_OCI_IMAGE'
  | 'CALC_CONCURRENCY'
  | 'CALC_WALL_TIME_MS'
  | 'CALC_CPU_TIME_SEC'
  | 'CALC_MEMORY_BYTES'
  | 'CALC_TMP_BYTES'
  | 'CALC_MAX_PROCESSES'
  | 'CALC_MAX_TEXT_BYTES'
  | 'CALC_MAX_OUTPUT_POINTS'
>;

/**
 * When the zygote dies, all its runs fail within this time. A failed run counts as under way for this time, so that each
 * of these runs sees the others.
 */
const FAILURE_SPREAD_MS = 1000;

/**
 * Starts R and runs a probe script that checks whether runs are isolated as configured (R-H7).
 * @throws {SandboxUnavailableError}
 * - when the sandbox needs R_ROOT, but R_ROOT is missing or has no readable R runtime
 * - when the OCI image cannot be imported
 * - when SANDBOX=none is set without SANDBOX_ALLOW_NONE=true, or cannot change to the root directory R_ROOT
 * - when R does not start, the probe script fails, or the isolation is weaker than configured
 */
export async function openSandboxPool(options: {
  readonly config: SandboxConfig;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Pause in milliseconds before the start of each standby zygote except the first. Default: 0. */
  readonly standbyDelayMs?: number | undefined;
  /** Pause in milliseconds before the first standby is started. Default: `standbyDelayMs`. */
  readonly firstStandbyDelayMs?: number | undefined;
}): Promise<SandboxPool> {
  const { config, log, standbyDelayMs, firstStandbyDelayMs } = options;
  const launcher = await chooseLauncher(config, log);
  const zygoteMetrics = createZygoteMetrics(options.metrics);
  const zygote = await Zygote.open(launcher, zygoteMetrics, log, standbyDelayMs, firstStandbyDelayMs);
  const limits = limitsOf(config);
  const decoder = openResultDecoder();
  const underWay = new Set<SandboxJob>();
  const run = async (job: SandboxJob, signal?: AbortSignal): Promise<SandboxOutcome> => {
    const parts = { zygote, limits, decoder, isAlone: () => underWay.size === 1 };
    const begun = { ...job };
    underWay.add(begun);
    const leave = () => underWay.delete(begun);
    const outcome = await runOnce(parts, begun, signal).catch((error: unknown) => {
      leave();
      throw error;
    });
    if (outcome.kind === 'fault') setTimeout(leave, FAILURE_SPREAD_MS).unref();
    else leave();
    return outcome;
  };
  try {
    await proveIsolation(run, launcher.mode);
  } catch (error) {
    await zygote.close();
    throw error;
  }
  return {
    run,
    checkHealth: () => checkHealth(run),
    close: async () => void (await Promise.all([zygote.close(), decoder.close()])),
  };
}

async function chooseLauncher(config: SandboxConfig, log: Log): Promise<Launcher> {
  const rRoot = config.R_ROOT;
  if (config.SANDBOX === 'oci' && config.SANDBOX_OCI_IMAGE) return ociLauncher(config, config.SANDBOX_OCI_IMAGE);
  if (!rRoot) {
    throw new SandboxUnavailableError(
      'R_ROOT is not set; it must name a root file system in which r-runtime/build.sh has installed the R runtime',
    );
  }
  await access(join(rRoot, 'opt/tidemark/r-runtime/sandbox.so')).catch(() => {
    throw new SandboxUnavailableError(
      `R_ROOT ${rRoot} has no R runtime that this process can read; build one with r-runtime/build.sh, or correct its permissions`,
    );
  });
  if (config.SANDBOX === 'bwrap') return createBwrapLauncher(rRoot, sharedLimits(config));
  if (config.SANDBOX === 'oci') return ociLauncher(config, await ensureImage(config.SANDBOX_OCI_COMMAND, rRoot));
  if (!config.SANDBOX_ALLOW_NONE) {
    throw new SandboxUnavailableError('SANDBOX=none is refused unless SANDBOX_ALLOW_NONE=true');
  }
  log.warn('SCRIPTS RUN WITHOUT A SANDBOX: runs are not isolated from each other. Run only scripts you trust.');
  return createNoneLauncher(rRoot);
}

/** Returns the limits of all runs together. The `+ 1` is for the zygote and its waiting runners. */
function sharedLimits(config: SandboxConfig): SharedLimits {
  const shares = config.CALC_CONCURRENCY + 1;
  return {
    memoryBytes: shares * config.CALC_MEMORY_BYTES,
    maxProcesses: shares * config.CALC_MAX_PROCESSES + OWN_PROCESSES,
  };
}

function ociLauncher(config: SandboxConfig, image: string): Launcher {
  return createOciLauncher({ command: config.SANDBOX_OCI_COMMAND, image, ...sharedLimits(config) });
}

function limitsOf(config: SandboxConfig): RunLimits {
  return {
    wallTimeMs: config.CALC_WALL_TIME_MS,
    cpuTimeSec: config.CALC_CPU_TIME_SEC,
    memoryBytes: config.CALC_MEMORY_BYTES,
    tmpBytes: config.CALC_TMP_BYTES,
    maxProcesses: config.CALC_MAX_PROCESSES,
    maxTextBytes: config.CALC_MAX_TEXT_BYTES,
    maxPoints: config.CALC_MAX_OUTPUT_POINTS,
  };
}

interface RunParts {
  readonly zygote: Zygote;
  readonly limits: RunLimits;
  readonly decoder: ResultDecoder;
  /** Whether no other run is under way or has just failed (`FAILURE_SPREAD_MS`). */
  readonly isAlone: () => boolean;
}

async function runOnce({ zygote, limits, decoder, isAlone }: RunParts, job: SandboxJob, signal?: AbortSignal) {
  const startedMs = performance.now();
  const frame = encodeRequest(job);
  const remaining = remainingLimits(limits, job);
  const parts = [encodeRunHeader(remaining, frame.length), frame];
  const answer = await connectAndRun(zygote, parts, remaining.wallTimeMs + GRACE_MS, signal);
  const isFirst = (job.spent?.wallMs ?? 0) === 0;
  const [elapsedMs, wasAlone] = [performance.now() - startedMs, isAlone()];
  const result = await decoder.decode(answer.result, limits);
  return decideOutcome(answer, result, { ...limits, isFirst }, elapsedMs, wasAlone);
}

/**
 * @returns the limits minus the time that earlier scripts of the run took. At least a millisecond of wall time and a
 * second of CPU time are left.
 */
function remainingLimits(limits: RunLimits, { spent = { wallMs: 0, cpuMs: 0 } }: SandboxJob): RunLimits {
  return {
    ...limits,
    wallTimeMs: Math.max(1, Math.floor(limits.wallTimeMs - spent.wallMs)),
    cpuTimeSec: Math.max(1, Math.ceil(limits.cpuTimeSec - spent.cpuMs / 1000)),
  };
}

/**
 * Retries a refused connection for up to 30 s. A dead zygote refuses connections until its death is noticed. From then
 * on, `socketPath` waits for the next zygote.
 */
async function connectAndRun(
  zygote: Zygote,
  parts: readonly Buffer[],
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Answer> {
  const giveUpMs = performance.now() + CONNECT_PATIENCE_MS;
  for (;;) {
    try {
      return await exchange(await zygote.socketPath(), parts, timeoutMs, signal);
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
      if (performance.now() > giveUpMs) throw new SandboxUnavailableError(`R cannot be reached: ${error.message}`);
      // When the signal aborts, the pause ends early, and the next attempt throws the reason of the signal.
      await pause(CONNECT_RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
