/** Finds free ports. A port that was used before is preferred, so that addresses stay valid across starts. */
import { once } from 'node:events';
import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';

/** @returns `wanted` if it is free on loopback, else a port the system chooses. */
export async function findFreePort(wanted = 0): Promise<number> {
  const server = await listen(wanted, LOOPBACK).catch(() => listen(0, LOOPBACK));
  const address = server.address();
  server.close();
  if (typeof address !== 'object' || address === null) throw new Error('no free port on loopback');
  return address.port;
}

/** @returns the error that listening on `port` of `host` gives; undefined when the port is free. */
export async function tryPort(port: number, host: string): Promise<Error | undefined> {
  try {
    (await listen(port, host)).close();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

async function listen(port: number, host: string) {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  return server;
}
