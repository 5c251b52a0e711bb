/** The standard health service of gRPC, whose watches end when the server stops (R-J2, R-K2). */
import { type Server, type ServerWritableStream, status, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';

/** Names by which clients ask for health: '' for the whole server, and the name of its service. */
const NAMES = ['', 'tidemark.v1.DataPoints'] as const;

type WatchCall = ServerWritableStream<unknown, unknown>;

/**
 * Adds the health service to the server; the service reports SERVING for the names in NAMES.
 * @returns a function that reports NOT_SERVING and then ends all watches with UNAVAILABLE. grpc-health-check itself
 * never ends a watch, and an open watch would delay the stop of the server until the server's grace period ends.
 */
export function serveHealth(server: Server): () => void {
  const watches = new Set<WatchCall>();
  const health = new HealthImplementation();
  for (const name of NAMES) health.setStatus(name, 'SERVING');
  const addService = (...[service, { watch, ...calls }]: Parameters<Server['addService']>): void => {
    const watchUntilStop = (call: WatchCall): void => {
      watches.add(call);
      call.on('cancelled', () => watches.delete(call));
      (watch as (call: WatchCall) => void)(call);
    };
    server.addService(service, { ...calls, watch: watchUntilStop } as UntypedServiceImplementation);
  };
  health.addToServer({ addService } as unknown as Server);
  return () => {
    for (const name of NAMES) health.setStatus(name, 'NOT_SERVING');
    for (const call of watches) call.emit('error', { code: status.UNAVAILABLE, details: 'the service is stopping' });
    watches.clear();
  };
}
