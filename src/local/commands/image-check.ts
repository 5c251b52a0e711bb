/**
 * `npm run image:check`: builds the images of compose.yaml, runs them with podman, and checks the running service. The
 * database image is built from Debian's packages, or from the build that TIMESCALEDB_BUILD names, because the official
 * image needs a registry. Not checked, because a Docker host is needed: Docker's name service, published ports,
 * AppArmor, restarts after a crash.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CheckPlan, containerName, publicAddress } from '../image/arguments.ts';
import { BASE_IMAGE, buildImages, chooseDatabaseImage, ensureBaseImage } from '../image/build.ts';
import { type ComposeFile, parseCompose } from '../image/compose.ts';
import { checkCalculatorNetwork, checkConfinement } from '../image/confinement.ts';
import { awaitHealthy, prepare, removeAll, startServices, stopServices } from '../image/containers.ts';
import { podman } from '../image/podman.ts';
import {
  createFirstAccount,
  loadConsole,
  pushOnePoint,
  readComputed,
  readOverGrpc,
  readPushed,
} from '../image/probe.ts';
import { CHECKOUT } from '../paths.ts';
import { createProgress, type Progress } from '../progress.ts';
import { SetupError } from '../setup-error.ts';
import { awaitStopSignal, runCommand } from './cli.ts';

await runCommand(async () => {
  const progress = createProgress(process.stdout);
  const prefix = `tidemark-check-${randomBytes(3).toString('hex')}`;
  const startedMs = performance.now();
  try {
    await Promise.race([check(prefix, progress), failOnSignal()]);
  } finally {
    await progress.phase('Removing containers, volumes and networks', () => removeAll(prefix));
  }
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  progress.say(
    `The images passed the check in ${seconds} s. src/container/IMAGE-CHECK.md lists what is not checked. Images and layers are kept for the next run.`,
  );
  return 0;
});

async function failOnSignal(): Promise<never> {
  throw new SetupError(`Stopped by ${await awaitStopSignal()}.`);
}

async function check(prefix: string, progress: Progress): Promise<void> {
  await ensureBaseImage(progress);
  const file = readComposeFile(await chooseDatabaseImage(CHECKOUT, progress));
  await buildImages(file, CHECKOUT, progress);
  await printImageSizes(file, progress);
  const plan = await progress.phase('Creating networks', () => prepare(file, prefix, CHECKOUT));
  await startServices(plan, progress);
  await progress.phase('Checking, from inside each running container, that the container is confined', () =>
    checkInside(plan),
  );
  await useAsClient(plan, progress);
  await progress.phase('Stopping in order', () => stop(plan));
}

function readComposeFile(databaseImage: string): ComposeFile {
  const secret = () => randomBytes(12).toString('base64url');
  return parseCompose(readFileSync(join(CHECKOUT, 'compose.yaml'), 'utf8'), {
    BASE_IMAGE,
    DATABASE_IMAGE: databaseImage,
    TIDEMARK_VERSION: 'check',
    DATABASE_PASSWORD: secret(),
    REDIS_PASSWORD: secret(),
  });
}

async function printImageSizes(file: ComposeFile, progress: Progress): Promise<void> {
  const images = [...new Set(Object.values(file.services).map(({ image }) => image))];
  const { output } = await podman(['image', 'inspect', '--format', '{{.Size}}', ...images]);
  const sizes = output.split('\n').map((bytes, index) => `${images[index]} ${Math.round(Number(bytes) / 1e6)} MB`);
  progress.say(`  ${sizes.join(', ')}`);
}

async function checkInside(plan: CheckPlan): Promise<void> {
  for (const [name, service] of Object.entries(plan.file.services)) {
    if (service.restart !== 'no') await checkConfinement(plan, name, service);
  }
  await checkCalculatorNetwork(plan);
}

async function useAsClient(plan: CheckPlan, progress: Progress): Promise<void> {
  const [api, grpc] = [`http://${publicAddress(plan, 'api')}`, publicAddress(plan, 'grpc')];
  const secrets = await progress.phase('Creating the first account', () => createFirstAccount(plan));
  const variables = await progress.phase('Pushing a point', () => pushOnePoint(api, secrets));
  await progress.phase('Fetching the point', () => readPushed(api, variables));
  await progress.phase('Fetching the point that R computed from the pushed point', () => readComputed(api, variables));
  await progress.phase('Fetching both points over gRPC', () => readOverGrpc(grpc, variables));
  await progress.phase('Loading the console', () => loadConsole(api));
  await progress.phase('Restarting the database and fetching the point again', async () => {
    await podman(['restart', containerName(plan, 'database')]);
    for (const name of ['database', 'api']) await awaitHealthy(plan, name);
    await readPushed(api, variables);
  });
  await progress.phase('Restoring the database from a backup and fetching the point again', async () => {
    await restoreDatabase(plan);
    await readPushed(api, variables);
  });
}

/** Makes a backup of the database and restores it, with the steps that an operator takes. */
async function restoreDatabase(plan: CheckPlan): Promise<void> {
  const { backup } = plan.file.services;
  if (!backup) throw new SetupError('compose.yaml must have a service named backup');
  const database = containerName(plan, 'database');
  const admin = ['node', 'src/main.ts', 'admin'];
  await podman(['exec', containerName(plan, 'backup'), ...admin, 'backup', '/backups/current', '--keep', '7']);
  await podman(['stop', database]);
  const offline = async ([entryPoint = '', ...words]: readonly string[]) => {
    const mounts = ['database:/data', ...backup.volumes].flatMap((mount) => ['--volume', `${plan.prefix}-${mount}`]);
    const settings = Object.keys(backup.environment).flatMap((name) => ['--env', name]);
    const options = [
      '--rm',
      '--network',
      'none',
      '--user',
      backup.user,
      ...mounts,
      ...settings,
      '--entrypoint',
      entryPoint,
    ];
    const { environment } = backup;
    await podman(['run', ...plan.machineOptions, ...options, backup.image, ...words], { environment });
  };
  await offline(['mv', '/data/cluster', '/data/cluster-before']);
  await offline([...admin, 'restore', '/backups/current', '/data/cluster']);
  await podman(['start', database]);
  for (const name of ['database', 'api']) await awaitHealthy(plan, name);
}

async function stop(plan: CheckPlan): Promise<void> {
  const codes = [...(await stopServices(plan))].filter(([, code]) => code !== 0);
  if (codes.length > 0)
    throw new SetupError(
      `every container must exit with 0, got ${codes.map(([name, code]) => `${name} ${code}`).join(', ')}`,
    );
}
