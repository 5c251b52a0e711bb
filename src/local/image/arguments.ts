/**
 * What `podman run` is told for a service of compose.yaml. Pure. Of what stands there, restart, logging and the
 * intervals of health checks are not carried over: the check does its own waiting and wants to see failures. Nor are
 * published ports: of a container on two networks, podman with CNI leads them to either, and one has no way in.
 */
import type { ComposeFile, ComposeService } from './compose.ts';

/** A network of one run: its name for podman and the address of every service on it. */
export interface CheckNetwork {
  readonly podmanName: string;
  readonly addresses: Readonly<Record<string, string>>;
}

export interface CheckPlan {
  /** Prefix of every container, network and volume. */
  readonly prefix: string;
  readonly file: ComposeFile;
  readonly networks: Readonly<Record<string, CheckNetwork>>;
  /** Options every container needs on this machine. */
  readonly machineOptions: readonly string[];
  /** Directory that paths in compose.yaml start from. */
  readonly directory: string;
}

/** Arguments after `podman`; values of the environment are left out, they are to be in podman's own environment. */
export function runArguments(plan: CheckPlan, name: string, service: ComposeService): readonly string[] {
  const { cpus, memory, pids } = service.deploy.resources.limits;
  return [
    ...['run', '--detach', '--name', containerName(plan, name), '--hostname', name, ...plan.machineOptions],
    ...['--user', service.user, '--cpus', cpus, '--memory', memory, '--pids-limit', String(pids)],
    // Podman would add writable mounts of its own to a read-only container, Docker does not.
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

export function containerName(plan: Pick<CheckPlan, 'prefix'>, service: string): string {
  return `${plan.prefix}-${service}`;
}

/** Where this machine reaches the port a service publishes: on its first network that is not internal. */
export function publicAddress({ file, networks }: CheckPlan, name: string): string {
  const service = file.services[name];
  const port = service?.ports[0]?.split(':').at(-1);
  const network = service?.networks.find((candidate) => !file.networks[candidate]?.internal);
  const address = networks[network ?? '']?.addresses[name];
  if (!port || !address) throw new Error(`compose.yaml publishes nothing of ${name}`);
  return `${address}:${port}`;
}

function securityOption({ directory }: CheckPlan, option: string): string {
  const [kind, value = ''] = option.split(/=(.*)/s);
  return kind === 'seccomp' && value !== 'unconfined' ? `seccomp=${directory}/${value}` : option;
}

/** Without an interval podman needs no timer of the machine, and the check asks when it wants to know. */
function healthOptions({ healthcheck }: ComposeService): readonly string[] {
  if ('disable' in healthcheck) return ['--no-healthcheck'];
  const [kind, ...rest] = healthcheck.test;
  // An array is taken for CMD without saying so; with the word in front podman 4.3 takes it apart at its spaces.
  const command = kind === 'CMD' ? JSON.stringify(rest) : rest.join(' ');
  return ['--health-cmd', command, '--health-interval', 'disable', '--health-timeout', healthcheck.timeout];
}

/** An address on the network, and the names of those met there: compose's name service, written into /etc/hosts. */
function networkOptions({ networks, file }: CheckPlan, name: string, network: string): readonly string[] {
  const { podmanName, addresses } = networks[network] ?? { podmanName: network, addresses: {} };
  const peers = Object.entries(addresses).filter(([peer]) => peer !== name && file.services[peer]);
  return [
    ...['--network', `${podmanName}:ip=${addresses[name]},mac=${hardwareAddress(addresses[name] ?? '')}`],
    ...peers.flatMap(([peer, address]) => ['--add-host', `${peer}:${address}`]),
  ];
}

/** The same after a restart, as Docker does it: with a new one, peers talk to the old one for half a minute. */
function hardwareAddress(address: string): string {
  return ['02', '42', ...address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'))].join(':');
}
