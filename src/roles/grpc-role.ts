/** The grpc role: the data points service on a port of its own. */
import { startGrpcServer } from '../grpc/start-grpc-server.ts';
import { assertListenable } from './listen-error.ts';
import type { Parts, Role } from './parts.ts';

export interface GrpcRole extends Role {
  /** Address of the gRPC server, as host:port. */
  readonly address: string;
}

/**
 * Starts the gRPC server on its port.
 * @throws the error that `toListenError` returns, when the server cannot listen on GRPC_HOST and GRPC_PORT.
 */
export async function startGrpcRole(parts: Parts): Promise<GrpcRole> {
  const { GRPC_HOST: host, GRPC_PORT: port, SHUTDOWN_TIMEOUT_MS } = parts.config;
  // Checks the address before the gRPC library does, because the library would write a failure to stderr itself.
  await assertListenable({ host, port, prefix: 'GRPC' });
  const server = await startGrpcServer(parts, host, port);
  return { address: server.address, stop: () => server.stop(SHUTDOWN_TIMEOUT_MS / 4) };
}
