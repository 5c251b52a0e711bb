import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Container, Launcher } from '../../src/calculation/sandbox/launcher.ts';
import { createBwrapLauncher } from '../../src/calculation/sandbox/launcher-bwrap.ts';
import { Zygote } from '../../src/calculation/sandbox/zygote.ts';
import { createLog } from '../../src/platform/log.ts';
import { sandboxConfig } from '../fixtures/scripts/harness.ts';

/** Starting R and running it take a second each, more on a busy machine. */
vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

const log = createLog('silent', 'test');

test('a zygote that dies is replaced, and what it left on the host is removed (R-H7)', async () => {
  const launched: Container[] = [];
  const zygote = await Zygote.open(recording(launched), log);
  try {
    const firstPath = await zygote.socketPath();
    const [first] = launched;
    first?.process.kill('SIGKILL');
    await (first && once(first.process, 'exit'));
    const secondPath = await zygote.socketPath();
    expect(secondPath).not.toBe(firstPath);
    expect(existsSync(dirname(firstPath))).toBe(false);
    expect(existsSync(secondPath)).toBe(true);
  } finally {
    await zygote.close();
  }
  expect(launched).toHaveLength(2);
  expect(launched.every(({ socketPath }) => !existsSync(dirname(socketPath)))).toBe(true);
});

test('a zygote that cannot start says why (R-H7)', async () => {
  const launcher = createBwrapLauncher('/usr');
  await expect(Zygote.open(launcher, log)).rejects.toThrow(/R could not be started in its sandbox: .*\nbwrap: /);
});

function recording(launched: Container[]): Launcher {
  const launcher = createBwrapLauncher(sandboxConfig().R_ROOT ?? '');
  const launch = async () => {
    const container = await launcher.launch();
    launched.push(container);
    return container;
  };
  return { mode: launcher.mode, launch };
}
