/**
 * Chooses the ports of the roles: the configured port, else the port of the last start, else the default. If a
 * configured port is in use, the start fails. If the last or the default port is in use, a free port is chosen instead.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingDefault } from '../config.ts';
import { assertListenable } from '../roles/listen-error.ts';
import { STACK_DIRECTORY } from './paths.ts';
import type { RunningRoles } from './roles.ts';
import { findFreePort } from './services/ports.ts';
import { SetupError } from './setup-error.ts';

const LOOPBACK = '127.0.0.1';
const SERVERS = [
  { prefix: 'HTTP', label: 'The API' },
  { prefix: 'GRPC', label: 'gRPC' },
] as const;

type Environment = Readonly<Record<string, string | undefined>>;
type PortSetting = `${(typeof SERVERS)[number]['prefix']}_PORT`;
export type RolePorts = Readonly<Record<PortSetting, string>>;

/**
 * Chooses the ports of the roles.
 * @param say receives a sentence for each port that is in use, with the port chosen instead.
 * @throws {SetupError} when a role cannot listen on a port that `environment` sets.
 */
export async function planRolePorts(
  environment: Environment,
  say: (notice: string) => void,
  file: string = join(STACK_DIRECTORY, 'role-ports.json'),
): Promise<RolePorts> {
  const lastPorts = readLastPorts(file);
  const entries: [PortSetting, string][] = [];
  for (const { prefix, label } of SERVERS) {
    const setting = `${prefix}_PORT` as const;
    const configured = environment[setting];
    if (configured) await assertFree(prefix, environment, Number(configured));
    const port = configured || (await choosePort(setting, label, lastPorts[setting] ?? settingDefault(setting), say));
    entries.push([setting, port]);
  }
  if (environment.HEALTH_PORT) await assertFree('HEALTH', environment, Number(environment.HEALTH_PORT));
  return Object.fromEntries(entries) as RolePorts;
}

/** Keeps the ports for the next start, so that addresses stay valid. */
export function rememberRolePorts({ http, grpc }: Pick<RunningRoles, 'http' | 'grpc'>): void {
  mkdirSync(STACK_DIRECTORY, { recursive: true });
  const ports: RolePorts = { HTTP_PORT: new URL(http).port, GRPC_PORT: grpc.split(':').at(-1) ?? '' };
  writeFileSync(join(STACK_DIRECTORY, 'role-ports.json'), JSON.stringify(ports));
}

async function choosePort(
  setting: PortSetting,
  label: string,
  wanted: number | string | undefined,
  say: (notice: string) => void,
): Promise<string> {
  const port = await findFreePort(Number(wanted));
  if (port !== Number(wanted)) {
    say(
      `  Port ${wanted} is already in use. ${label} listens on port ${port} instead; set ${setting} to choose another port.`,
    );
  }
  return String(port);
}

async function assertFree(prefix: 'HTTP' | 'GRPC' | 'HEALTH', environment: Environment, port: number): Promise<void> {
  const host = environment[`${prefix}_HOST`] || LOOPBACK;
  await assertListenable({ host, port, prefix }).catch((error: Error) => {
    throw new SetupError(error.message);
  });
}

function readLastPorts(file: string): Partial<RolePorts> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<RolePorts>;
  } catch {
    return {};
  }
}
