/** Checks, from inside each running container, that the container is confined as compose.yaml specifies. */

import { SetupError } from '../setup-error.ts';
import { type CheckPlan, containerName } from './arguments.ts';
import type { ComposeService } from './compose.ts';
import { podman } from './podman.ts';

const UNITS = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 } as const;

/**
 * Shell script that prints how the container is confined, as `name=value` lines. It reads the limits from control
 * groups version 2, else version 1.
 */
const PRINT_CONFINEMENT = `
echo "uid=$(id -u)"
sed -n 's/^\\(CapEff\\|CapPrm\\|CapBnd\\|NoNewPrivs\\|Seccomp\\):[[:space:]]*/\\1=/p' /proc/self/status
for directory in / /app /usr /usr/local/lib /etc /srv /run /var/tmp; do
  [ -d $directory ] || continue
  if (: > $directory/probe) 2> /dev/null; then echo "writable=$directory"; fi
done
echo "memory=$(cat /sys/fs/cgroup/memory.max 2> /dev/null || cat /sys/fs/cgroup/memory/memory.limit_in_bytes)"
echo "pids=$(cat /sys/fs/cgroup/pids.max 2> /dev/null || cat /sys/fs/cgroup/pids/pids.max)"
echo "cpu=$(cat /sys/fs/cgroup/cpu.max 2> /dev/null ||
  echo "$(cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us) $(cat /sys/fs/cgroup/cpu/cpu.cfs_period_us)")"
echo "gateways=$(awk '$2 == "00000000"' /proc/net/route | wc -l)"
`;

/** Connects to each address given as an argument; prints the addresses that accept the connection. */
const CONNECT = `
  const { connect } = await import('node:net');
  const reaches = (address) => new Promise((resolve) => {
    const [host, port] = address.split(':');
    const socket = connect({ host, port: Number(port), timeout: 1500 });
    const end = (isOpen) => { socket.destroy(); resolve(isOpen); };
    socket.on('connect', () => end(true)).on('timeout', () => end(false)).on('error', () => end(false));
  });
  const open = await Promise.all(process.argv.slice(1).map(async (address) => (await reaches(address)) ? [address] : []));
  console.log(open.flat().join(' '));
`;

/**
 * Checks one running container from inside.
 * @throws {SetupError} naming every property that differs from compose.yaml.
 */
export async function checkConfinement(plan: CheckPlan, name: string, service: ComposeService): Promise<void> {
  const { output } = await podman(['exec', containerName(plan, name), 'sh', '-c', PRINT_CONFINEMENT]);
  const problems = findProblems(plan, service, output.split('\n'));
  if (problems.length > 0) throw new SetupError(`${name} is not confined as compose.yaml says: ${problems.join('; ')}`);
}

/** Compares the output of PRINT_CONFINEMENT with compose.yaml. Pure. @returns a sentence for each difference. */
export function findProblems(
  { file }: Pick<CheckPlan, 'file'>,
  service: ComposeService,
  lines: readonly string[],
): readonly string[] {
  const valuesOf = (key: string) =>
    lines.flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []));
  const { cpus, memory, pids } = service.deploy.resources.limits;
  const isInternal = service.networks.every((network) => file.networks[network]?.internal);
  const expected: readonly (readonly [string, unknown, unknown])[] = [
    ['user', valuesOf('uid')[0], service.user.split(':')[0]],
    ...['CapEff', 'CapPrm', 'CapBnd'].map((set) => [set, Number.parseInt(valuesOf(set)[0] ?? '', 16), 0] as const),
    ['NoNewPrivs', valuesOf('NoNewPrivs')[0], '1'],
    ['Seccomp', valuesOf('Seccomp')[0], '2'],
    ['the list of writable directories', valuesOf('writable').join(' '), ''],
    ['bytes of memory', valuesOf('memory')[0], String(toBytes(memory))],
    ['processes', valuesOf('pids')[0], String(pids)],
    ['processors', processorsOf(valuesOf('cpu')[0] ?? ''), Number(cpus)],
    ['gateway', valuesOf('gateways')[0] === '0' ? 'absent' : 'present', isInternal ? 'absent' : 'present'],
  ];
  return expected.flatMap(([what, got, wanted]) =>
    got === wanted ? [] : [`${what} must be ${wanted === '' ? 'empty' : wanted}, got ${got}`],
  );
}

/**
 * @returns the number of processors, which is the quota divided by the period. When the parameter is not two numbers,
 * returns it unchanged.
 */
function processorsOf(quotaAndPeriod: string): number | string {
  const [, quota, period] = /^(\d+) (\d+)$/.exec(quotaAndPeriod) ?? [];
  return quota === undefined ? quotaAndPeriod : Number(quota) / Number(period);
}

function toBytes(size: string): number {
  const unit = UNITS[size.slice(-1) as keyof typeof UNITS];
  return Number.parseInt(size, 10) * (unit ?? 1);
}

/**
 * Checks that the calculator can connect to the database and Redis, but not to api or grpc (R-H7).
 * @throws {SetupError} when the check fails.
 */
export async function checkCalculatorNetwork(plan: CheckPlan): Promise<void> {
  const servers = { database: 5432, redis: 6379, api: 8080, grpc: 50_051 } as const;
  const named = Object.entries(servers).map(([name, port]) => `${name}:${port}`);
  const numbered = Object.values(plan.networks).flatMap(({ addresses }) =>
    (['api', 'grpc'] as const).flatMap((name) => (addresses[name] ? [`${addresses[name]}:${servers[name]}`] : [])),
  );
  const container = containerName(plan, 'calculator');
  const { output } = await podman(['exec', container, 'node', '--eval', CONNECT, '--', ...named, ...numbered]);
  const wanted = 'database:5432 redis:6379';
  if (output !== wanted)
    throw new SetupError(
      `the calculator must be able to connect to ${wanted} and to no other server; it can connect to ${output || 'no server'}`,
    );
}
