/** Finds free ports. The port of the last start is preferred, so that addresses stay valid across starts. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';
/**
 * Range of the chosen ports, below the ephemeral ports of Linux (32768 to 60999): a service listens seconds after its
 * port was chosen, and an outgoing connection could take an ephemeral port meanwhile.
 */
const [FIRST, LAST] = [20_000, 32_000];
const MAX_TRIES = 20;

/**
 * @param wanted undefined or 0 for any port.
 * @returns `wanted` if it is free on loopback, else a free port from the range above.
 * @throws {Error} when none of MAX_TRIES ports is free.
 */
export async function findFreePort(wanted?: number): Promise<number> {
  if (wanted && (await isFree(wanted))) return wanted;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = randomInt(FIRST, LAST);
    if (await isFree(port)) return port;
  }
  throw new Error(`${MAX_TRIES} random ports of ${LOOPBACK} from ${FIRST} to ${LAST} were tried, and none is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, LOOPBACK);
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}
