/** Runs Redis for one stack, in the same root file system as the database. Eviction is off, as BullMQ requires. */
import { Redis } from 'ioredis';
import { launch, prepareState } from './launcher.ts';
import { findFreePort } from './ports.ts';
import { awaitService, type Service, type StackServiceOptions, withLog } from './service.ts';

const READY_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 10_000;

/**
 * Starts the server on loopback, protected by `password`.
 * @throws {SetupError} when the server ends before it is ready, or does not answer in time.
 */
export async function startRedis(options: StackServiceOptions): Promise<Service> {
  const state = prepareState(options.launcher, options.root, options.directory);
  const port = await findFreePort(options.wantedPort);
  const program = withLog(options.logFile, (output) =>
    launch(options.launcher, { ...options, state, output, argv: serverArguments(options, state.innerPath, port) }),
  );
  const url = `redis://:${options.password}@127.0.0.1:${port}/0`;
  return awaitService({
    name: 'Redis',
    url,
    program,
    logFile: options.logFile,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: STOP_TIMEOUT_MS,
    readyTimeoutMs: READY_TIMEOUT_MS,
    probe: () => ping(url),
  });
}

function serverArguments(options: StackServiceOptions, directory: string, port: number): readonly string[] {
  const settings = {
    bind: '127.0.0.1',
    port: String(port),
    requirepass: options.password,
    dir: directory,
    daemonize: 'no',
    'maxmemory-policy': 'noeviction',
    save: '',
    appendonly: options.isDurable ? 'yes' : 'no',
  };
  return ['redis-server', ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])];
}

async function ping(url: string): Promise<void> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.ping();
  } finally {
    client.disconnect();
  }
}
