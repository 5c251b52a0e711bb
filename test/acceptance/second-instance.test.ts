/**
 * Tests two starts: `npm start` while the default ports are in use, and a single role while the port of that role is in
 * use.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { createWorld } from '../support/fixtures/world.ts';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

describe('npm start: a second instance on one machine', { timeout: 180_000 }, () => {
  test('chooses free ports while the default ports are in use, prints them, serves, refuses another start in the same checkout, and stops with exit code 0 (R-K2)', async () => {
    await Promise.all([occupy(8080), occupy(50_051)]);
    const clone = cloneCheckout();
    const instance = run(clone, ['src/local/commands/start.ts'], ownEnvironment());
    const output = await outputUntil(instance, 'Tidemark is ready');
    expect(output).toMatch(
      /Port 8080 is already in use\. The API listens on port \d+ instead; set HTTP_PORT to choose another port\./,
    );
    expect(output).toMatch(
      /Port 50051 is already in use\. gRPC listens on port \d+ instead; set GRPC_PORT to choose another port\./,
    );
    const stack = readFileSync(join(clone, '.local/stack.json'), 'utf8');
    const { api, grpc } = JSON.parse(stack) as { readonly api: string; readonly grpc: string };
    expect(output).toContain(`The API listens on port ${new URL(api).port} instead;`);
    expect(output).toContain(`gRPC listens on port ${grpc.split(':').at(-1)} instead;`);
    expect((await fetch(`${api}/health/ready`)).status).toBe(200);

    const again = run(clone, ['src/local/commands/start.ts'], ownEnvironment());
    expect(await endOf(again)).toMatchObject({ code: 1, errors: expect.stringContaining('is already running') });

    instance.kill('SIGINT');
    expect(await once(instance, 'exit')).toEqual([0, null]);
  });
});

describe('roles: a port that another process uses', () => {
  test.each([
    ['api', 'HTTP_PORT'],
    ['grpc', 'GRPC_PORT'],
    ['deliverer', 'HEALTH_PORT'],
  ])(
    'ends the role %s with exit code 1 and a message that names the port and the setting %s (R-K1)',
    async (role, setting) => {
      const port = await occupy(0);
      const world = await createWorld();
      cleanUps.push(world.close);
      const environment = { HTTP_PORT: '0', GRPC_PORT: '0', ...world.environment, [setting]: String(port) };
      const { code, errors, output } = await endOf(run(CHECKOUT, ['src/main.ts', role], environment));
      expect(errors).toBe(
        `Port ${port} on 127.0.0.1 is already in use. Set ${setting} to a free port, or to 0 to let the system choose one.\n`,
      );
      expect(code).toBe(1);
      expect(output).not.toMatch(/"level":(50|60)|EADDRINUSE/);
    },
  );
});

/** Listens on the port, unless another process already does. @returns the port. */
async function occupy(port: number): Promise<number> {
  const server: Server = createServer().listen(port, '127.0.0.1');
  const isBusy = await once(server, 'listening').then(
    () => false,
    () => true,
  );
  if (isBusy) return port;
  cleanUps.push(() => server.close());
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

/** Creates a second clone: the files that the service needs, and a link to the installed packages. */
function cloneCheckout(): string {
  const clone = mkdtempSync(join(tmpdir(), 'tidemark-clone-'));
  cleanUps.push(() => rmSync(clone, { recursive: true, force: true }));
  for (const name of ['src', 'sql', 'proto', 'r-runtime', 'package.json', 'package-lock.json']) {
    const target = join(clone, name);
    mkdirSync(dirname(target), { recursive: true });
    execFileSync('cp', ['-R', join(CHECKOUT, name), target]);
  }
  symlinkSync(join(CHECKOUT, 'node_modules'), join(clone, 'node_modules'));
  return clone;
}

/** @returns the environment variables that `npm start` has in a shell, without the settings of the test suite. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, XDG_CACHE_HOME } = process.env;
  return { PATH, HOME, ...(XDG_CACHE_HOME && { XDG_CACHE_HOME }) };
}

function run(directory: string, argv: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const options = {
    cwd: directory,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'] as const,
  };
  const child = spawn(join(directory, 'node_modules/.bin/node'), [...argv], { ...options, stdio: [...options.stdio] });
  cleanUps.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
  });
  return child;
}

/** @throws {Error} when the process ends before it prints `mark`; the message contains the output of the process. */
async function outputUntil(child: ChildProcess, mark: string): Promise<string> {
  let output = '';
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        output += String(chunk);
        if (output.includes(mark)) resolve();
      });
    }
    child.once('exit', () => reject(new Error(`"${mark}" was not printed:\n${output}`)));
  });
  return output;
}

async function endOf(child: ChildProcess) {
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout ?? Readable.from([])),
    text(child.stderr ?? Readable.from([])),
    once(child, 'exit'),
  ]);
  return { output, errors, code };
}
