/** `.local/stack.json`: addresses and credentials of the running stack, for scripts and people. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { STACK_FILE } from './paths.ts';

export interface DemoUser {
  readonly userName: string;
  readonly password: string;
  readonly role: 'ADMIN' | 'MANAGER' | 'USER';
  /** Name of the account the user belongs to. */
  readonly account: string;
}

/** Addresses and credentials of a running stack. */
export interface Stack {
  readonly api: string;
  readonly push: string;
  readonly auth: string;
  /** Address of the gRPC server as host:port. */
  readonly grpc: string;
  readonly realm: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly database: string;
  readonly redis: string;
  readonly users: readonly DemoUser[];
}

/** Writes the file atomically: a reader never sees an incomplete file. */
export function writeStackFile(stack: Stack, path: string = STACK_FILE): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(stack, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Removes the file that names the addresses of the stack; does nothing when the file is missing. */
export function removeStackFile(path: string = STACK_FILE): void {
  rmSync(path, { force: true });
}
