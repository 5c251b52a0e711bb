/** Tests what compose.yaml guarantees, and how image:check turns the services of compose.yaml into containers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { envExample } from '../../../src/env-example.ts';
import { publicAddress, runArguments } from '../../../src/local/image/arguments.ts';
import { type ComposeService, interpolate, parseCompose, startOrder } from '../../../src/local/image/compose.ts';
import { CHECKOUT } from '../../../src/local/paths.ts';

const TEXT = readFileSync(join(CHECKOUT, 'compose.yaml'), 'utf8');
const SECRETS = { DATABASE_PASSWORD: 'database-secret', REDIS_PASSWORD: 'redis-secret' };
const file = parseCompose(TEXT, SECRETS);
const services = Object.entries(file.services);
const ROLES = ['api', 'grpc', 'ingester', 'deliverer', 'calculator'];

function get(name: string): ComposeService {
  const service = file.services[name];
  if (!service) throw new Error(`compose.yaml has no service ${name}`);
  return service;
}

describe('local: compose.yaml', () => {
  test('has database, redis, the migration, one service per role, and the backup as an optional service', () => {
    expect(services.map(([name]) => name)).toEqual(['database', 'redis', 'migrate', ...ROLES, 'backup']);
    const optional = services.filter(([, { profiles }]) => profiles.length > 0);
    expect(optional.map(([name, { profiles }]) => [name, profiles])).toEqual([['backup', ['backup']]]);
    for (const role of [...ROLES, 'migrate']) expect(get(role).command).toEqual([role]);
  });

  test.each(services)(
    'the service %s has a read-only file system and a user other than root; it has no capability and cannot gain privileges',
    (_, service) => {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
      expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
      expect(service.security_opt).toContain('no-new-privileges=true');
    },
  );

  test.each(services)(
    'the service %s has limits on its processors, its memory and the number of its processes',
    (_, { deploy }) => {
      const { cpus, memory, pids } = deploy.resources.limits;
      expect(Number(cpus)).toBeGreaterThan(0);
      expect(memory).toMatch(/^\d+[mg]$/);
      expect(pids).toBeGreaterThan(0);
    },
  );

  test('every long-running service has a health check', () => {
    const unchecked = services.filter(([, { healthcheck }]) => 'disable' in healthcheck).map(([name]) => name);
    expect(unchecked).toEqual(['migrate']);
  });

  test('the service of a role starts once the database and Redis are healthy and the migration is completed', () => {
    for (const role of ROLES) {
      expect(get(role).depends_on).toEqual({
        database: { condition: 'service_healthy' },
        redis: { condition: 'service_healthy' },
        migrate: { condition: 'service_completed_successfully' },
      });
    }
  });

  test('database, Redis, calculator and api have different user ids; grpc, ingester, deliverer and migrate have the user id of api', () => {
    const idOf = (name: string) => get(name).user.split(':')[0];
    const ids = ['database', 'redis', 'calculator', 'api'].map(idOf);
    expect(new Set(ids).size).toBe(ids.length);
    for (const role of ['grpc', 'ingester', 'deliverer', 'migrate']) expect(idOf(role)).toBe(idOf('api'));
  });

  test('the calculator has one network, without a gateway, and shares it with the database and Redis only (R-H7)', () => {
    const { networks } = get('calculator');
    const met = services.filter(([, service]) => service.networks.some((network) => networks.includes(network)));
    expect(met.map(([name]) => name)).toEqual(['database', 'redis', 'calculator']);
    expect(networks.map((network) => file.networks[network]?.internal)).toEqual([true]);
  });

  test('only api and grpc publish a port, by default on loopback; only they and the deliverer have a gateway', () => {
    const open = services.filter(([, { networks }]) => networks.some((network) => !file.networks[network]?.internal));
    expect(open.map(([name]) => name)).toEqual(['api', 'grpc', 'deliverer']);
    expect(services.filter(([, { ports }]) => ports.length > 0).map(([name]) => name)).toEqual(['api', 'grpc']);
    for (const [, { ports }] of services) for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  test('only the deliverer is in the network that has the deliverer’s gateway (R-I4)', () => {
    const outside = get('deliverer').networks.filter((network) => !file.networks[network]?.internal);
    const met = services.filter(([, { networks }]) => networks.some((network) => outside.includes(network)));
    expect(met.map(([name]) => name)).toEqual(['deliverer']);
  });

  test('every service has only the security option `no-new-privileges`, except the calculator, which also has its own list of system calls', () => {
    const others = services.filter(([name]) => name !== 'calculator').map(([, { security_opt }]) => security_opt);
    expect(new Set(others.flat())).toEqual(new Set(['no-new-privileges=true']));
    expect(get('calculator').security_opt).toContain('seccomp=src/container/calculator-seccomp.json');
  });

  test('a password has no default: when its environment variable is empty, an error names the variable (R-K1)', () => {
    for (const name of Object.keys(SECRETS)) {
      expect(() => parseCompose(TEXT, { ...SECRETS, [name]: '' })).toThrow(`${name} is required`);
    }
  });

  test('.env.example lists every setting that compose.yaml gives to a role (R-K1)', () => {
    const known = new Set([...envExample().matchAll(/^(?:# )?([A-Z_]+)=/gm)].map(([, name]) => name));
    const given = ROLES.flatMap((role) => Object.keys(get(role).environment));
    expect(given).toContain('DATABASE_URL');
    expect(known.has('DATABASE_URL')).toBe(true);
    expect(given.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('calculator-seccomp.json: system calls of the calculator (R-H7)', () => {
  interface Profile {
    readonly defaultAction: string;
    readonly syscalls: readonly { readonly names: readonly string[]; readonly action: string }[];
  }
  const profile: Profile = JSON.parse(readFileSync(join(CHECKOUT, 'src/container/calculator-seccomp.json'), 'utf8'));

  test('a system call is refused unless a rule allows it', () => {
    expect(profile.defaultAction).toBe('SCMP_ACT_ERRNO');
    expect(new Set(profile.syscalls.map(({ action }) => action))).toEqual(new Set(['SCMP_ACT_ALLOW']));
  });

  test.each([
    ...['bpf', 'ptrace', 'keyctl', 'add_key', 'perf_event_open', 'userfaultfd', 'io_uring_setup', 'process_vm_writev'],
    ...['init_module', 'kexec_load', 'setns', 'open_by_handle_at', 'mknodat', 'chroot', 'quotactl', 'swapon', 'reboot'],
  ])('%s is not allowed', (call) => {
    expect(profile.syscalls.flatMap(({ names }) => names)).not.toContain(call);
  });
});

describe('image:check: compose.yaml', () => {
  test('environment variables in the file are replaced by their values or defaults, as in docker compose', () => {
    const text = [`$\{A} $\{B:-b} $\{C:-} $$\{A}`, { x: `$\{B:-b}` }, 5];
    expect(interpolate(text, { A: 'a', B: '' })).toEqual([`a b  $\{A}`, { x: 'b' }, 5]);
  });

  test('an unknown key is refused with an error that names it', () => {
    const text = TEXT.replace('  redis:\n', '  redis:\n    privileged: true\n');
    expect(() => parseCompose(text, SECRETS)).toThrow(/privileged/);
  });

  test('services start after their dependencies', () => {
    const order = startOrder(file.services);
    const positions = services.flatMap(([name, { depends_on }]) =>
      Object.keys(depends_on).map((dependency) => [order.indexOf(dependency), order.indexOf(name)] as const),
    );
    expect(positions).not.toEqual([]);
    expect(positions.filter(([dependency, dependent]) => dependency >= dependent)).toEqual([]);
    expect(order.toSorted()).toEqual(services.map(([name]) => name).toSorted());
  });

  test('a circular dependency is refused', () => {
    const waiting = { ...get('redis'), depends_on: { redis: { condition: 'service_healthy' as const } } };
    expect(() => startOrder({ redis: waiting })).toThrow('redis → redis');
  });
});

test('image:check: when a service has an internal and a public network, its published port leads to the address on the public network', () => {
  const frontend = { podmanName: 'p-frontend', addresses: { api: '10.0.1.10' } };
  const backend = { podmanName: 'p-backend', addresses: { api: '10.0.2.10', ingester: '10.0.2.11' } };
  const plan = { prefix: 'p', file, networks: { frontend, backend }, machineOptions: [], directory: '/checkout' };
  expect(publicAddress(plan, 'api')).toBe('10.0.1.10:8080');
  expect(() => publicAddress(plan, 'ingester')).toThrow('must publish a port of ingester');
});

describe('image:check: the arguments that start the calculator with `podman run`', () => {
  const addresses = { database: '10.0.0.10', redis: '10.0.0.11', calculator: '10.0.0.12' };
  const networks = { calculation: { podmanName: 'p-calculation', addresses } };
  const plan = { prefix: 'p', file, networks, machineOptions: [], directory: '/checkout' };
  const line = runArguments(plan, 'calculator', get('calculator')).join(' ');

  test.each([
    ['--user 26002:26002'],
    ['--cap-drop ALL'],
    ['--read-only --read-only-tmpfs=false'],
    ['--security-opt no-new-privileges=true'],
    ['--security-opt seccomp=/checkout/src/container/calculator-seccomp.json'],
    ['--memory 4g'],
    ['--pids-limit 500'],
    ['--network p-calculation:ip=10.0.0.12,mac=02:42:0a:00:00:0c'],
    ['--add-host database:10.0.0.10'],
    ['tidemark-server:local calculator'],
  ])('contain %s', (part) => {
    expect(line).toContain(part);
  });

  test('contain the names of environment variables, but not their values (R-K1)', () => {
    expect(line).toContain('--env DATABASE_URL');
    expect(line).not.toContain('database-secret');
  });
});
