import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { planRolePorts } from '../../../src/local/role-ports.ts';
import { findFreePort } from '../../../src/local/services/ports.ts';
import { SetupError } from '../../../src/local/setup-error.ts';
import { toListenError } from '../../../src/roles/listen-error.ts';

describe('npm start: ports of the roles', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-ports-'));
  const lastPorts = join(directory, 'role-ports.json');
  let busy: Server;
  let busyPort: number;

  beforeAll(async () => {
    busy = createServer();
    await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
    const address = busy.address();
    busyPort = typeof address === 'object' ? (address?.port ?? 0) : 0;
  });

  afterAll(() => {
    busy.close();
    rmSync(directory, { recursive: true });
  });

  test.each(['HTTP_PORT', 'GRPC_PORT', 'HEALTH_PORT'])(
    'the start fails when the port in %s is in use',
    async (name) => {
      const plan = planRolePorts({ HTTP_PORT: '0', GRPC_PORT: '0', [name]: String(busyPort) }, fail, lastPorts);
      await expect(plan).rejects.toThrow(SetupError);
      await expect(plan).rejects.toThrow(
        `Port ${busyPort} on 127.0.0.1 is already in use. Set ${name} to a free port, or to 0 to let the system choose one.`,
      );
    },
  );

  test('when a port used at the last start is busy, another port is chosen, and a notice names both ports and the setting', async () => {
    const free = await findFreePort();
    writeFileSync(lastPorts, JSON.stringify({ HTTP_PORT: String(busyPort), GRPC_PORT: String(free) }));
    const notices: string[] = [];
    const ports = await planRolePorts({}, (notice) => notices.push(notice), lastPorts);
    expect(ports).toEqual({ HTTP_PORT: expect.not.stringMatching(`^${busyPort}$`), GRPC_PORT: String(free) });
    expect(notices).toEqual([
      `  Port ${busyPort} is already in use. The API listens on port ${ports.HTTP_PORT} instead; set HTTP_PORT to choose another port.`,
    ]);
  });

  test('a configured port is used when it is free', async () => {
    const [http, grpc] = [String(await findFreePort()), String(await findFreePort())];
    expect(await planRolePorts({ HTTP_PORT: http, GRPC_PORT: grpc }, fail, lastPorts)).toEqual({
      HTTP_PORT: http,
      GRPC_PORT: grpc,
    });
  });

  test.each([
    [
      'listen EACCES: permission denied 127.0.0.1:80',
      'The operating system does not let this process listen on port 80. Set HTTP_PORT',
    ],
    [
      'listen EADDRNOTAVAIL: address not available 127.0.0.1',
      '127.0.0.1 is not an address of this machine, or cannot be resolved. Set HTTP_HOST',
    ],
    ['listen EMFILE', 'listen EMFILE'],
  ])('the message for the listen error "%s" contains "%s"', (failure, sentence) => {
    const error = toListenError(new Error(failure), { host: '127.0.0.1', port: 80, prefix: 'HTTP' });
    expect(error.message).toContain(sentence);
  });

  test.each([
    [1023, 'Set GRPC_PORT to a port number of 1024 or higher, or to 0'],
    [1024, 'Set GRPC_PORT to another port, or to 0'],
  ])('the message for a forbidden port %i says "%s"', (port, advice) => {
    const error = toListenError(new Error('listen EACCES'), { host: '127.0.0.1', port, prefix: 'GRPC' });
    expect(error.message).toContain(advice);
  });
});

function fail(notice: string): never {
  throw new Error(`unexpected notice: ${notice}`);
}
