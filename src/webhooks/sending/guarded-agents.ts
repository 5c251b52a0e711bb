/** HTTP agents whose connections come from `connectGuarded`; they keep a few idle connections. */
import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectOptions, connectGuarded } from './connect-guarded.ts';

const MAX_FREE_PER_HOST = 4;
const MAX_FREE = 64;
// An idle connection is closed after this time. Most servers wait longer, so few reused connections are stale.
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

/**
 * Opens the agents for http and https (R-I4).
 * @param ca trusted certificates in place of Node's certificates; for tests.
 */
export function openGuardedAgents(options: ConnectOptions, ca?: string): GuardedAgents {
  const plain = new GuardedHttpAgent(POOL, options);
  // The option is set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
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
    // When the options contain a socket, Node starts TLS over this socket and reuses the TLS sessions of this agent.
    const secure = (socket: Duplex) => super.createConnection({ ...request, socket } as https.RequestOptions);
    connect(request, this.#options, secure, onCreated);
  }

  override keepSocketAlive(socket: Duplex): boolean {
    return keepFew(this, socket) && (super.keepSocketAlive(socket) as unknown as boolean);
  }
}

/** @param wrap function that turns the plain connection into the stream of the request. */
function connect(
  { host, port }: http.ClientRequestArgs,
  options: ConnectOptions,
  wrap: (socket: Duplex) => Duplex | null | undefined,
  onCreated?: OnCreated,
): void {
  // On failure, Node expects the error as the only argument of the callback.
  const fail = (error: Error) => (onCreated as ((error: Error) => void) | undefined)?.(error);
  connectGuarded(host ?? '', Number(port), options).then((bare) => {
    const socket = wrap(bare);
    if (socket) onCreated?.(null, socket);
    else bare.destroy();
  }, fail);
}

/**
 * @returns whether the agent may keep an idle connection: it keeps at most MAX_FREE to all hosts together. Node limits
 * idle connections for each host only.
 */
function keepFew(agent: http.Agent, socket: Duplex): boolean {
  const free = Object.values(agent.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
  return free < MAX_FREE && !socket.destroyed;
}
