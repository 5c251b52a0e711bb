/** A TCP proxy in front of a service. It simulates a faulty network: refused, broken, silent or one-way connections. */
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';

export interface TcpGate {
  /** The `url` given to `openTcpGate`, but with the host and port of this proxy. */
  readonly url: string;
  /** Refuses new connections and closes the open connections. */
  shut(): Promise<void>;
  open(): Promise<void>;
  /**
   * Keeps the existing connections, but forwards nothing more on them; new connections work. `freeze('answers')` stops
   * only the answers of the service.
   */
  freeze(only?: 'answers'): void;
  /**
   * Simulates a network that fails in the middle of an answer: each connection forwards about `bytes` more bytes of
   * answers, and then nothing. Calling `shut` removes this limit.
   */
  holdAnswers(bytes: number): void;
}

/** @param url address of the service, such as postgres://user@host:port/name. */
export async function openTcpGate(url: string): Promise<TcpGate> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const pairs = new Set<readonly [client: Socket, service: Socket]>();
  let heldAfter: number | undefined;
  const server = createServer((client) => {
    const service = createConnection(Number(target.port), target.hostname);
    const pair = [client, service] as const;
    pairs.add(pair);
    if (heldAfter !== undefined) hold(pair, heldAfter);
    client.on('close', () => pairs.delete(pair));
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
  const address = new URL(url);
  address.host = `127.0.0.1:${port}`;
  return {
    url: address.href,
    open: () => open(port),
    freeze: (only) => {
      for (const [client, service] of pairs) {
        service.unpipe(client).resume();
        if (only !== 'answers') client.unpipe(service).resume();
        // From now on, the proxy keeps one connection of the pair open when the other closes.
        service.removeAllListeners('close');
        client.removeAllListeners('close');
        client.on('close', () => sockets.delete(client));
      }
      pairs.clear();
    },
    holdAnswers: (bytes) => {
      heldAfter = bytes;
      for (const pair of pairs) hold(pair, bytes);
    },
    shut: () =>
      new Promise((resolve) => {
        heldAfter = undefined;
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Forwards about `bytes` bytes from the service to the client, then stops reading from the service. */
function hold([client, service]: readonly [client: Socket, service: Socket], bytes: number): void {
  let left = bytes;
  service.on('data', (answer: Buffer) => {
    left -= answer.length;
    if (left <= 0) service.unpipe(client).pause();
  });
}
