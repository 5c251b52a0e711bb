/** Finds out whether R can run and be confined on this machine, and derives the settings of the calculator. */
import { execFile } from 'child-process-promise';
import type { Progress } from './progress.ts';
import { ensureRoot } from './roots/ensure-root.ts';
import { rRecipe } from './roots/recipes.ts';
import { findNamespaceRefusal, isRoot, makeDevices } from './services/launcher.ts';

export interface CalculatorSetup {
  /** Environment variables for the calculator; undefined when the calculator cannot run on this machine. */
  readonly environment: Readonly<Record<string, string>> | undefined;
  /** Directory of the R root file system; undefined when the calculator cannot run on this machine. */
  readonly rRoot: string | undefined;
  /** Sentences to print about what the calculator lacks on this machine. */
  readonly warnings: readonly string[];
}

const unconfined = (refusal: string) =>
  `WARNING: bwrap cannot use user namespaces here (${refusal}), so R scripts run WITHOUT A SANDBOX. Only a separate user ` +
  'id, resource limits and a system-call filter confine them. They share /tmp. If /proc is mounted in the root file system of R, they see the processes of other scripts. Run only scripts you trust.';

/**
 * Builds the R root file system. Builds nothing in three cases: the R root file system exists already, R_ROOT names
 * another root file system, or R cannot run on this machine.
 * @throws {SetupError} when the build fails.
 */
export async function prepareCalculator(progress: Progress): Promise<CalculatorSetup> {
  const obstacle = await findObstacle();
  if (obstacle !== undefined) {
    const warning = `WARNING: calculated variables are NOT recalculated: the calculator cannot run here. ${obstacle}`;
    return { environment: undefined, rRoot: undefined, warnings: [warning] };
  }
  const rRoot = process.env.R_ROOT || (await ensureRoot(rRecipe(), progress));
  const refusal = findNamespaceRefusal(process.env);
  if (refusal === undefined) return { environment: { R_ROOT: rRoot }, rRoot, warnings: [] };
  makeDevices(rRoot);
  const environment = { R_ROOT: rRoot, SANDBOX: 'none', SANDBOX_ALLOW_NONE: 'true' };
  return { environment, rRoot, warnings: [unconfined(refusal)] };
}

/** @returns why R cannot run on this machine; undefined when it can. */
async function findObstacle(): Promise<string | undefined> {
  const isNeeded = !process.env.R_ROOT;
  if (isNeeded && !(await canBuildRoots())) {
    return 'R_ROOT is not set, and mmdebstrap cannot be started. mmdebstrap builds a root file system that contains R. Install mmdebstrap or set R_ROOT.';
  }
  const refusal = isRoot() ? undefined : findNamespaceRefusal(process.env);
  if (refusal === undefined) return undefined;
  return `bwrap cannot use user namespaces here (${refusal}), and only root can run R without user namespaces.`;
}

function canBuildRoots(): Promise<boolean> {
  return execFile('mmdebstrap', ['--version']).then(
    () => true,
    () => false,
  );
}
