/** Finds free ports. The port of the last start is preferred, so that addresses stay valid across starts. */
import { once } from 'node:events';
import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';

/**
 * @returns `wanted` if it is free on loopback, else a port the system chooses.
 * @throws {Error} when no port is free.
 */
export async function findFreePort(wanted = 0): Promise<number> {
  const server = await listen(wanted).catch(() => listen(0));
  const address = server.address();
  server.close();
  if (typeof address !== 'object' || address === null) throw new Error(`${LOOPBACK} has no free port`);
  return address.port;
}

async function listen(port: number) {
  const server = createServer().listen(port, LOOPBACK);
  await once(server, 'listening');
  return server;
}
