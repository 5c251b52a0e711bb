/**
 * The roles and `npm start` use this file to check that a role can listen on an address, and to turn a failure to
 * listen into an error that names the setting to change.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** This process cannot listen on an address from its settings. The message names the setting to change. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** An address to listen on, and the prefix of its settings. For example, `HTTP` is the prefix of HTTP_PORT. */
export interface Listening {
  readonly host: string;
  readonly port: number;
  readonly prefix: 'HTTP' | 'GRPC' | 'HEALTH';
}

/** @returns a ListenError when a setting can be changed to avoid the failure; otherwise `error` itself. */
export function toListenError(error: unknown, { host, port, prefix }: Listening): Error {
  const cause = error instanceof Error ? error : new Error(String(error));
  if (cause.message.includes('EADDRINUSE')) {
    return new ListenError(
      `Port ${port} on ${host} is already in use. Set ${prefix}_PORT to a free port, or to 0 to let the system choose one.`,
      { cause },
    );
  }
  if (cause.message.includes('EACCES')) {
    const other = port < 1024 ? 'a port number of 1024 or higher' : 'another port';
    return new ListenError(
      `The operating system does not let this process listen on port ${port}. Set ${prefix}_PORT to ${other}, or to 0 to let the system choose one.`,
      { cause },
    );
  }
  if (/EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|Name resolution failed/.test(cause.message)) {
    return new ListenError(
      `${host} is not an address of this machine, or cannot be resolved. Set ${prefix}_HOST to an address of this machine.`,
      {
        cause,
      },
    );
  }
  return cause;
}

/**
 * Listens on an address and stops listening immediately.
 * @throws the error that `toListenError` returns, when this process cannot listen on the address.
 */
export async function assertListenable(listening: Listening): Promise<void> {
  const server = createServer().listen(listening.port, listening.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw toListenError(error, listening);
  }
  await new Promise((resolve) => server.close(resolve));
}
