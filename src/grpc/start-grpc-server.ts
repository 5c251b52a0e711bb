/** Starts the gRPC server: the data points service, health and reflection (R-J1, R-J2). */
import { Server, ServerCredentials, type UntypedHandleCall } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import type { Metrics } from '../platform/metrics/metrics.ts';
import type { Watching } from '../watching/open-watching.ts';
import { countCalls } from './count-calls.ts';
import { listRunsHandler } from './list-runs.ts';
import { listVersionsHandler } from './list-versions.ts';
import { loadReflectedPackage, loadServerService } from './load-proto.ts';
import { readLastHandler } from './read-last.ts';
import { type ReadServices, readPointsHandler } from './read-points.ts';
import { serveHealth } from './serve-health.ts';
import { watchPointsHandler } from './watch-points.ts';

export interface DataPointsServices extends ReadServices {
  readonly metrics: Metrics;
  readonly watching: Watching;
}

export interface GrpcServer {
  /** Address that the server listens on, as host:port. */
  readonly address: string;
  /** Ends the watches, waits up to `graceMs` for the other calls, and then cancels calls that have not ended. */
  stop(graceMs: number): Promise<void>;
}

const SERVER_OPTIONS = {
  'grpc.max_receive_message_length': 4 << 20,
  // Pings detect clients that vanished while a watch was silent.
  'grpc.keepalive_time_ms': 60_000,
  'grpc.keepalive_timeout_ms': 20_000,
};

/**
 * Starts the server with all its services (R-J1, R-J2). The server speaks plain HTTP/2; a proxy in front terminates
 * TLS.
 * @param port port to listen on; 0 means any free port.
 */
export async function startGrpcServer(services: DataPointsServices, host: string, port: number): Promise<GrpcServer> {
  const server = new Server({ ...SERVER_OPTIONS, interceptors: [countCalls(services.metrics)] });
  const watches = services.watching.join();
  server.addService(loadServerService(), {
    ReadPoints: readPointsHandler(services) as UntypedHandleCall,
    ReadLast: readLastHandler(services) as UntypedHandleCall,
    WatchPoints: watchPointsHandler(services, watches) as UntypedHandleCall,
    ListVersions: listVersionsHandler(services) as UntypedHandleCall,
    ListRuns: listRunsHandler(services) as UntypedHandleCall,
  });
  const endHealth = serveHealth(server);
  new ReflectionService(loadReflectedPackage()).addToServer(server);
  const boundPort = await bind(server, `${host}:${port}`);
  return {
    address: `${host}:${boundPort}`,
    stop: async (graceMs) => {
      endHealth();
      const timer = setTimeout(() => server.forceShutdown(), graceMs);
      const shutDown = new Promise<void>((resolve) => {
        server.tryShutdown(() => resolve());
      });
      watches.stop();
      await shutDown;
      clearTimeout(timer);
    },
  };
}

function bind(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(error);
      else resolve(port);
    });
  });
}
