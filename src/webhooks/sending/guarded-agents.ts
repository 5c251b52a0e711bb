/** Pools of connections to receivers, each made by `connectGuarded`; a few of them are kept for the next message. */
import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectOptions, connectGuarded } from './connect-guarded.ts';

const MAX_FREE_PER_HOST = 4;
const MAX_FREE = 64;
// Shorter than what servers usually keep; what they close first costs another try.
const FREE_MS = 4000;

const POOL: http.AgentOptions = {
  keepAlive: true,
  maxFreeSockets: MAX_FREE_PER_HOST,
  scheduling: 'lifo',
  timeout: FREE_MS,
};

type OnCreated = (error: Error | null, socket: Duplex) => void;

export interface GuardedAgents {
  readonly http: http.Agent;
  readonly https: https.Agent;
  close(): void;
}

/** @param ca certificates trusted besides those of Node; for tests. */
export function openGuardedAgents(options: ConnectOptions, ca?: string): GuardedAgents {
  const plain = new GuardedHttpAgent(POOL, options);
  // Said here, so that no variable of the environment turns it off.
  const tls = { rejectUnauthorized: true, ...(ca !== undefined && { ca }) };
  const secure = new GuardedHttpsAgent({ ...POOL, ...tls }, options);
  return {
    http: plain,
    https: secure,
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

class GuardedHttpAgent extends http.Agent {
  readonly #options: ConnectOptions;

  constructor(pool: http.AgentOptions, options: ConnectOptions) {
    super(pool);
    this.#options = options;
  }

  override createConnection(request: http.ClientRequestArgs, onCreated?: OnCreated): undefined {
    connect(request, this.#options, (socket) => socket, onCreated);
  }

  override keepSocketAlive(socket: Duplex): boolean {
    return keepFew(this, socket) && (super.keepSocketAlive(socket) as unknown as boolean);
  }
}

class GuardedHttpsAgent extends https.Agent {
  readonly #options: ConnectOptions;

  constructor(pool: https.AgentOptions, options: ConnectOptions) {
    super(pool);
    this.#options = options;
  }

  override createConnection(request: https.RequestOptions, onCreated?: OnCreated): undefined {
    // With a socket given, what is made is TLS over it, with the sessions of the pool.
    const secure = (socket: Duplex) => super.createConnection({ ...request, socket } as https.RequestOptions);
    connect(request, this.#options, secure, onCreated);
  }

  override keepSocketAlive(socket: Duplex): boolean {
    return keepFew(this, socket) && (super.keepSocketAlive(socket) as unknown as boolean);
  }
}

/** @param wrap makes of the bare connection what the request is sent through. */
function connect(
  { host, port }: http.ClientRequestArgs,
  options: ConnectOptions,
  wrap: (socket: Duplex) => Duplex | null | undefined,
  onCreated?: OnCreated,
): void {
  // Of a failure Node takes the error alone.
  const fail = (error: Error) => (onCreated as ((error: Error) => void) | undefined)?.(error);
  connectGuarded(host ?? '', Number(port), options).then((bare) => {
    const socket = wrap(bare);
    if (socket) onCreated?.(null, socket);
    else bare.destroy();
  }, fail);
}

/** Receivers are many: without a limit over all of them each would leave connections behind. */
function keepFew(agent: http.Agent, socket: Duplex): boolean {
  const free = Object.values(agent.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
  return free < MAX_FREE && !socket.destroyed;
}
