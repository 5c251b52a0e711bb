/**
 * Runs the services of compose.yaml in podman: creates the networks, starts the services in dependency order, waits
 * until each is ready, stops the services, and removes their containers, volumes and networks.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Progress } from '../progress.ts';
import { SetupError } from '../setup-error.ts';
import { type CheckNetwork, type CheckPlan, containerName, runArguments } from './arguments.ts';
import { type ComposeFile, startOrder } from './compose.ts';
import { limitOptions, podman } from './podman.ts';

const READY_TIMEOUT_MS = 180_000;
const POLL_MS = 250;
const FIRST_HOST = 10;
const LOG_LINES = '40';

/**
 * Creates the networks and assigns an address to each service.
 * @throws {SetupError} when podman fails, or when the subnet of a network is not a /24.
 */
export async function prepare(file: ComposeFile, prefix: string, directory: string): Promise<CheckPlan> {
  const networks: Record<string, CheckNetwork> = {};
  for (const [name, { internal }] of Object.entries(file.networks)) {
    const podmanName = `${prefix}-${name}`;
    await podman(['network', 'create', ...(internal ? ['--internal'] : []), podmanName]);
    const { output } = await podman(['network', 'inspect', podmanName]);
    const subnet = /"subnet": "(\d+\.\d+\.\d+)\.0\/24"/.exec(output)?.[1];
    if (!subnet) throw new SetupError(`network ${podmanName} must have a /24 subnet, got:\n${output}`);
    const members = Object.entries(file.services).filter(([, service]) => service.networks.includes(name));
    const addresses = members.map(([member], index) => [member, `${subnet}.${FIRST_HOST + index}`]);
    networks[name] = { podmanName, addresses: Object.fromEntries(addresses) };
  }
  const machineOptions = ['--pull=never', ...limitOptions()];
  return { prefix, file, networks, machineOptions, directory };
}

/**
 * Starts every service after its dependencies are healthy or have completed. @throws {SetupError} when a service fails.
 */
export async function startServices(plan: CheckPlan, progress: Progress): Promise<void> {
  const { services } = plan.file;
  for (const name of startOrder(services)) {
    const service = services[name];
    if (!service) continue;
    await progress.phase(`Starting ${name}`, async (step) => {
      await podman(runArguments(plan, name, service), { environment: service.environment });
      const isOneShot = Object.values(services).some(
        ({ depends_on }) => depends_on[name]?.condition === 'service_completed_successfully',
      );
      step('waiting until the service is ready');
      await (isOneShot ? awaitSuccess(plan, name) : awaitHealthy(plan, name));
    });
  }
}

/**
 * Waits until the health check of the service `name` passes.
 * @throws {SetupError} with the end of the container's log, when the container ends or READY_TIMEOUT_MS passes.
 */
export async function awaitHealthy(plan: CheckPlan, name: string): Promise<void> {
  const container = containerName(plan, name);
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    // Podman exits with 125 when the container is not running.
    const { code } = await podman(['healthcheck', 'run', container], { goodCodes: [0, 1, 125] });
    if (code === 0) return;
    if (!(await isRunning(container))) return giveUp(container, 'the container ended before it was healthy');
    if (performance.now() > deadline)
      return giveUp(container, `the container is not healthy after ${READY_TIMEOUT_MS / 1000} s`);
    await pause(POLL_MS);
  }
}

async function awaitSuccess(plan: CheckPlan, name: string): Promise<void> {
  const container = containerName(plan, name);
  const { output } = await podman(['wait', container]);
  if (output !== '0') return giveUp(container, `the container exited with code ${output}`);
}

async function isRunning(container: string): Promise<boolean> {
  return (await podman(['inspect', '--format', '{{.State.Running}}', container])).output === 'true';
}

async function giveUp(container: string, what: string): Promise<never> {
  const lines: string[] = [];
  await podman(['logs', '--tail', LOG_LINES, container], { onLine: (line) => lines.push(line) });
  throw new SetupError(`${container}: ${what}; the end of the log:\n${lines.join('\n')}`);
}

/**
 * Stops the services in reverse start order.
 * @returns the exit code of each.
 * @throws {SetupError} when podman fails.
 */
export async function stopServices(plan: CheckPlan): Promise<ReadonlyMap<string, number>> {
  const codes = new Map<string, number>();
  for (const name of startOrder(plan.file.services).toReversed()) {
    const container = containerName(plan, name);
    await podman(['stop', container]);
    codes.set(name, Number((await podman(['inspect', '--format', '{{.State.ExitCode}}', container])).output));
  }
  return codes;
}

/**
 * Removes containers, volumes and networks whose names start with `prefix` and a hyphen, including leftovers of an
 * incomplete run.
 * @throws {SetupError} when podman fails.
 */
export async function removeAll(prefix: string): Promise<void> {
  const list = async (args: readonly string[]): Promise<readonly string[]> => {
    const { output } = await podman([...args, '--filter', `name=${prefix}`]);
    return output.split('\n').filter((name) => name.startsWith(`${prefix}-`));
  };
  const containers = await list(['ps', '--all', '--format', '{{.Names}}']);
  if (containers.length > 0) await podman(['rm', '--force', '--time', '5', '--volumes', ...containers]);
  const volumes = await list(['volume', 'ls', '--format', '{{.Name}}']);
  if (volumes.length > 0) await podman(['volume', 'rm', '--force', ...volumes]);
  const networks = await list(['network', 'ls', '--format', '{{.Name}}']);
  if (networks.length > 0) await podman(['network', 'rm', '--force', ...networks]);
}
