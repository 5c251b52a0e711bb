/**
 * Translates a service of compose.yaml into arguments of `podman run`. Pure. Leaves out four things: logging; restart
 * policies, which would hide failures from image:check; health-check intervals, because image:check runs the health
 * checks itself; and published ports, because podman with CNI may forward the port to the container's address on the
 * internal network when the container is on two networks.
 */
import type { ComposeFile, ComposeService } from './compose.ts';

/** A network of one run of image:check: its podman name and the address of every service on it. */
export interface CheckNetwork {
  readonly podmanName: string;
  readonly addresses: Readonly<Record<string, string>>;
}

export interface CheckPlan {
  /** Prefix of the names of containers, networks and volumes. */
  readonly prefix: string;
  readonly file: ComposeFile;
  readonly networks: Readonly<Record<string, CheckNetwork>>;
  /** Options of `podman run` that every container needs on this machine. */
  readonly machineOptions: readonly string[];
  /** Directory that paths in compose.yaml are relative to. */
  readonly directory: string;
}

/**
 * @returns the arguments after `podman`. They name environment variables without values: podman takes the values from
 * its own environment, so that process lists do not show them.
 */
export function runArguments(plan: CheckPlan, name: string, service: ComposeService): readonly string[] {
  const { cpus, memory, pids } = service.deploy.resources.limits;
  return [
    ...['run', '--detach', '--name', containerName(plan, name), '--hostname', name, ...plan.machineOptions],
    ...['--user', service.user, '--cpus', cpus, '--memory', memory, '--pids-limit', String(pids)],
    // Podman adds writable mounts to a read-only container by default; Docker does not.
    ...(service.read_only ? ['--read-only', '--read-only-tmpfs=false'] : []),
    ...(service.init ? ['--init'] : []),
    ...['--stop-timeout', String(Number.parseInt(service.stop_grace_period, 10))],
    ...service.cap_drop.flatMap((capability) => ['--cap-drop', capability]),
    ...service.security_opt.flatMap((option) => ['--security-opt', securityOption(plan, option)]),
    ...service.tmpfs.flatMap((mount) => ['--tmpfs', mount]),
    ...service.volumes.flatMap((volume) => ['--volume', `${plan.prefix}-${volume}`]),
    ...Object.keys(service.environment).flatMap((variable) => ['--env', variable]),
    ...healthOptions(service),
    ...service.networks.flatMap((network) => networkOptions(plan, name, network)),
    service.image,
    ...service.command,
  ];
}

/** @returns the name of the container that runs a service of compose.yaml during image:check. */
export function containerName(plan: Pick<CheckPlan, 'prefix'>, service: string): string {
  return `${plan.prefix}-${service}`;
}

/**
 * @returns `address:port` of a service's container: the address in the first network that is not internal, and the
 *   container port of the first port mapping.
 * @throws {Error} when the service publishes no port, or has only internal networks.
 */
export function publicAddress({ file, networks }: CheckPlan, name: string): string {
  const service = file.services[name];
  const port = service?.ports[0]?.split(':').at(-1);
  const network = service?.networks.find((candidate) => !file.networks[candidate]?.internal);
  const address = networks[network ?? '']?.addresses[name];
  if (!port || !address)
    throw new Error(
      `compose.yaml must publish a port of ${name}, and ${name} must have a network that is not internal`,
    );
  return `${address}:${port}`;
}

function securityOption({ directory }: CheckPlan, option: string): string {
  const [kind, value = ''] = option.split(/=(.*)/s);
  return kind === 'seccomp' && value !== 'unconfined' ? `seccomp=${directory}/${value}` : option;
}

/**
 * @returns the options of the health check. They switch off podman's repetition of the health check, which needs a
 *   systemd timer. Instead, image:check runs the health check repeatedly.
 */
function healthOptions({ healthcheck }: ComposeService): readonly string[] {
  if ('disable' in healthcheck) return ['--no-healthcheck'];
  const [kind, ...rest] = healthcheck.test;
  // The words after CMD must run without a shell, so podman gets them as a JSON array. podman 4.3 would split an array
  // that contains CMD at spaces.
  const command = kind === 'CMD' ? JSON.stringify(rest) : rest.join(' ');
  return ['--health-cmd', command, '--health-interval', 'disable', '--health-timeout', healthcheck.timeout];
}

/**
 * @returns options that give the container a fixed address in a network, and list the network's other containers in the
 * /etc/hosts file of this container. The file replaces Docker's name service.
 */
function networkOptions({ networks, file }: CheckPlan, name: string, network: string): readonly string[] {
  const { podmanName, addresses } = networks[network] ?? { podmanName: network, addresses: {} };
  const peers = Object.entries(addresses).filter(([peer]) => peer !== name && file.services[peer]);
  return [
    ...['--network', `${podmanName}:ip=${addresses[name]},mac=${hardwareAddress(addresses[name] ?? '')}`],
    ...peers.flatMap(([peer, address]) => ['--add-host', `${peer}:${address}`]),
  ];
}

/**
 * @returns a MAC address that stays the same after a restart, because peers remember an old MAC address for half a
 *   minute.
 */
function hardwareAddress(address: string): string {
  return ['02', '42', ...address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'))].join(':');
}
