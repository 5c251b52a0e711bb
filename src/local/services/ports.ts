/** Finds free ports. A caller may prefer the port of the last start, so that addresses stay valid across starts. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';
/**
 * Range of the chosen ports. It lies below the ephemeral ports (32768 to 60999), which Linux could give to another
 * connection first.
 */
const [FIRST, LAST] = [20_000, 32_000];
const MAX_TRIES = 20;

/**
 * @param wanted undefined or 0 for any port.
 * @returns `wanted` if it is free on loopback, else a free port between FIRST and LAST.
 * @throws {Error} when none of MAX_TRIES ports is free.
 */
export async function findFreePort(wanted?: number): Promise<number> {
  if (wanted && (await isFree(wanted))) return wanted;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = randomInt(FIRST, LAST);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${MAX_TRIES} random ports from ${FIRST} to ${LAST} on ${LOOPBACK} is free`);
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
