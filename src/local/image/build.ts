/** Builds the images of compose.yaml on a base image made by mmdebstrap, so that no image registry is needed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Progress } from '../progress.ts';
import { SetupError } from '../setup-error.ts';
import type { ComposeFile } from './compose.ts';
import { limitOptions, podman } from './podman.ts';

export const BASE_IMAGE = 'localhost/tidemark-base:trixie';
const SUITE = 'trixie';
const STEP_CHARACTERS = 100;
const CHECK_LABEL = 'tidemark.image-check=1';

/**
 * Builds the base image and imports it into podman, unless podman has it from an earlier run.
 * @throws {SetupError} when the build or the import fails.
 */
export async function ensureBaseImage(progress: Progress): Promise<void> {
  if ((await podman(['image', 'exists', BASE_IMAGE], { goodCodes: [0, 1] })).code === 0) {
    return progress.say(`  Base image ${BASE_IMAGE} exists from an earlier run`);
  }
  await progress.phase(`Building the base image ${BASE_IMAGE}`, async (step) => {
    const directory = mkdtempSync(join(tmpdir(), 'tidemark-base-'));
    const archive = join(directory, 'base.tar');
    try {
      await runTied(['mmdebstrap', '--variant=minbase', SUITE, archive], step);
      await podman(['import', archive, BASE_IMAGE], { onLine: step });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
}

const COMMUNITY_IMAGE = 'localhost/tidemark-community';
/** Stage of the Dockerfile. It installs Debian's packages and is used instead of TimescaleDB's official image. */
const DEBIAN_STAGE = 'debian-database';

/**
 * Chooses the base of the database image: DEBIAN_STAGE with the Apache edition of TimescaleDB. If TIMESCALEDB_BUILD
 * names a directory with a build of TimescaleDB, the base is a copy of DEBIAN_STAGE with this build.
 * @returns the value of the build argument DATABASE_IMAGE.
 * @throws {SetupError} when a build fails.
 */
export async function chooseDatabaseImage(checkout: string, progress: Progress): Promise<string> {
  const build = process.env.TIMESCALEDB_BUILD;
  if (!build) return DEBIAN_STAGE;
  await progress.phase(`Building ${COMMUNITY_IMAGE} with the files of ${build}`, async () => {
    const options = ['build', '--isolation', 'chroot', '--layers', ...limitOptions()];
    const base = [`--build-arg=BASE_IMAGE=${BASE_IMAGE}`, '--target', DEBIAN_STAGE, '--tag', DEBIAN_STAGE];
    await podman([...options, ...base, checkout]);
    const [lib, extension] = ['/usr/lib/postgresql/17/lib/', '/usr/share/postgresql/17/extension/'];
    const directory = mkdtempSync(join(tmpdir(), 'tidemark-community-'));
    const file = join(directory, 'Containerfile');
    writeFileSync(
      file,
      `FROM localhost/${DEBIAN_STAGE}
RUN rm -f ${lib}timescaledb* ${extension}timescaledb*
COPY lib ${lib}
COPY extension ${extension}
`,
    );
    try {
      await podman([...options, '--tag', COMMUNITY_IMAGE, '--file', file, build]);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
  return COMMUNITY_IMAGE;
}

/**
 * Builds each image of `file` once, even when several services use it. Reuses the layers that earlier runs built.
 * @throws {SetupError} when a build fails.
 */
export async function buildImages(file: ComposeFile, directory: string, progress: Progress): Promise<void> {
  const services = new Map(Object.values(file.services).map((service) => [service.image, service]));
  for (const [image, { build }] of services) {
    await progress.phase(`Building ${image}`, async (step) => {
      await podman(
        [
          ...['build', '--isolation', 'chroot', '--layers', ...limitOptions(), ...authorityOptions()],
          ...Object.entries(build.args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
          ...['--label', CHECK_LABEL, '--target', build.target, '--tag', image, directory],
        ],
        { onLine: (line) => /^\[.*STEP/.test(line) && step(line.slice(0, STEP_CHARACTERS)) },
      );
    });
  }
  // Removes the images that this run has replaced; intermediate stages have no label and stay as a cache.
  await podman(['image', 'prune', '--force', '--filter', `label=${CHECK_LABEL}`]);
}

/** @returns build options that let npm trust the certificate authorities of NODE_EXTRA_CA_CERTS during the build. */
function authorityOptions(): readonly string[] {
  const bundle = process.env.NODE_EXTRA_CA_CERTS;
  return bundle && existsSync(bundle) ? ['--secret', `id=ca_bundle,src=${bundle}`] : [];
}

const KEPT_ERROR_LINES = 15;

/**
 * Runs a program that the kernel ends when this process dies. `onLine` receives each line of stdout and stderr.
 * @throws {SetupError} with the last lines of output when the exit code is not 0.
 */
async function runTied(argv: readonly string[], onLine: (line: string) => void): Promise<void> {
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', '--', ...argv], { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      onLine(line);
    });
  }
  const [code, signal] = await once(child, 'close');
  if (code === 0) return;
  const end = lines.slice(-KEPT_ERROR_LINES).join('\n');
  throw new SetupError(`${argv[0]} exited with ${code ?? signal}; last lines of its output:\n${end}`);
}
