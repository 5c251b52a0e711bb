/** Ports of the roles: those the environment names, else last time's or the usual ones while they are free. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STACK_DIRECTORY } from './paths.ts';
import type { RunningRoles } from './roles.ts';
import { findFreePort } from './services/ports.ts';

const FILE = join(STACK_DIRECTORY, 'role-ports.json');
const USUAL = { http: 8080, grpc: 50_051 } as const;

/** HTTP_PORT and GRPC_PORT for the roles. */
export async function planRolePorts(): Promise<Readonly<Record<'HTTP_PORT' | 'GRPC_PORT', string>>> {
  const wanted = { ...USUAL, ...readRemembered() };
  return {
    HTTP_PORT: process.env.HTTP_PORT || String(await findFreePort(wanted.http)),
    GRPC_PORT: process.env.GRPC_PORT || String(await findFreePort(wanted.grpc)),
  };
}

/** Keeps the ports for the next start. */
export function rememberRolePorts({ http, grpc }: Pick<RunningRoles, 'http' | 'grpc'>): void {
  mkdirSync(STACK_DIRECTORY, { recursive: true });
  const ports = { http: Number(new URL(http).port), grpc: Number(grpc.split(':').at(-1)) };
  writeFileSync(FILE, JSON.stringify(ports));
}

function readRemembered(): Partial<Record<'http' | 'grpc', number>> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return {};
  }
}
