/**
 * The scripts of one run share the run's limits on wall and CPU time (R-H7). Otherwise, a run with 100 scripts could
 * take 100 times as long.
 */
import type { SandboxPool } from '../sandbox/pool.ts';
import type { SandboxJob, SandboxOutcome, SpentTime } from '../sandbox/sandbox-types.ts';

/**
 * @returns a function that runs one script, as `sandbox.run` does, but only within the wall and CPU time that earlier
 * scripts of the run have left unused (R-H7). A script always gets at least 1 ms of wall time and 1 s of CPU time.
 */
export function shareLimits(
  sandbox: Pick<SandboxPool, 'run'>,
): (job: SandboxJob, signal?: AbortSignal) => Promise<SandboxOutcome> {
  let spent: SpentTime = { wallMs: 0, cpuMs: 0 };
  return async (job, signal) => {
    const outcome = await sandbox.run({ ...job, spent }, signal);
    const { runMs, cpuMs } = outcome.timing;
    spent = { wallMs: spent.wallMs + runMs, cpuMs: spent.cpuMs + cpuMs };
    return outcome;
  };
}
