/** Free loopback ports, the same as last time when they are still free, so that addresses stay valid. */
import { once } from 'node:events';
import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';

/** `wanted` if nothing listens there, else a port the kernel picks. */
export async function findFreePort(wanted?: number): Promise<number> {
  if (wanted !== undefined && (await tryListen(wanted)) !== undefined) return wanted;
  const port = await tryListen(0);
  if (port === undefined) throw new Error('no free port on loopback');
  return port;
}

async function tryListen(port: number): Promise<number | undefined> {
  const server = createServer().listen(port, LOOPBACK);
  try {
    await once(server, 'listening');
    const address = server.address();
    return typeof address === 'object' ? address?.port : undefined;
  } catch {
    return undefined;
  } finally {
    server.close();
  }
}
