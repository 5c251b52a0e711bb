/** A door to a TCP service that can be shut and opened again: what a dependency looks like when it goes away. */
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';

export interface TcpGate {
  /** `url` with the address of this door. */
  readonly url: string;
  /** Refuses connections and cuts the open ones. */
  shut(): Promise<void>;
  open(): Promise<void>;
}

/** @param url of the service, such as postgres://user@host:port/name. */
export async function openTcpGate(url: string): Promise<TcpGate> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const service = createConnection(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => other.destroy());
      socket.on('close', () => sockets.delete(socket) && other.destroy());
    }
  });
  const open = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', () => resolve());
    });
  await open(0);
  const { port } = server.address() as AddressInfo;
  const door = new URL(url);
  door.host = `127.0.0.1:${port}`;
  return {
    url: door.href,
    open: () => open(port),
    shut: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
