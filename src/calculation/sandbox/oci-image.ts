/** Imports the R root file system into the OCI engine as an image, once; no image is pulled from a registry. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { HOST_ENVIRONMENT } from './launcher.ts';
import { SandboxUnavailableError } from './sandbox-types.ts';

const REPOSITORY = 'localhost/tidemark-r';

/**
 * @returns the name of the image.
 * @throws {SandboxUnavailableError} when the image cannot be imported. Throws the error of the system when tar cannot
 * start.
 */
export async function ensureImage(command: readonly string[], rRoot: string): Promise<string> {
  const image = `${REPOSITORY}:${basename(rRoot).replaceAll(/[^\w.-]/g, '-')}`;
  const isThere = await runOci(command, ['image', 'inspect', '--format', 'there', image]).then(
    () => true,
    () => false,
  );
  if (!isThere) await importRoot(command, rRoot, image);
  return image;
}

async function importRoot([file = '', ...options]: readonly string[], rRoot: string, image: string): Promise<void> {
  const tar = spawn('tar', ['--create', '--directory', rRoot, '.'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const load = spawn(file, [...options, 'import', '-', image], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: HOST_ENVIRONMENT,
  });
  const [errors, code, tarErrors, [tarCode]] = await Promise.all([
    text(load.stderr),
    endOf(load, file),
    text(tar.stderr),
    once(tar, 'close'),
    // A pipe that breaks shows in the exit codes.
    pipeline(tar.stdout, load.stdin).catch(() => {}),
  ]);
  if (code !== 0)
    throw new SandboxUnavailableError(`${file} could not import R_ROOT ${rRoot} as image ${image}: ${errors.trim()}`);
  if (tarCode === 0) return;
  // The image comes from an incomplete archive, so the next call must not find the image.
  await runOci([file, ...options], ['image', 'rm', image]);
  throw new SandboxUnavailableError(`tar could not read R_ROOT ${rRoot}: ${tarErrors.trim()}`);
}

/**
 * @returns the exit code; null when a signal ended the engine.
 * @throws {SandboxUnavailableError} when the engine cannot run.
 */
async function endOf(child: ChildProcess, file: string): Promise<number | null> {
  const [code] = await once(child, 'close').catch((error: Error) => {
    throw new SandboxUnavailableError(
      `${file} cannot run (${error.message}); SANDBOX_OCI_COMMAND must name an installed OCI engine, by its full path if it is not in ${HOST_ENVIRONMENT.PATH}`,
    );
  });
  return code;
}

/**
 * Runs the engine once. @returns the engine's output.
 * @throws {SandboxUnavailableError} when the engine cannot run or exits with an error. When it exits with an error, the
 * message contains what it wrote to standard error.
 */
export async function runOci([file = '', ...options]: readonly string[], args: readonly string[]): Promise<string> {
  const child = spawn(file, [...options, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: HOST_ENVIRONMENT });
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), endOf(child, file)]);
  if (code !== 0) throw new SandboxUnavailableError(`${file} ${args[0]} failed: ${errors.trim()}`);
  return output.trim();
}
