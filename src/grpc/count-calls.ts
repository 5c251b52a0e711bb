/** gRPC calls, counted and timed by method and status (R-A9). Only methods that exist get here, so there are few. */
import {
  status as GrpcStatus,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from '@grpc/grpc-js';
import type { Metrics } from '../platform/metrics/metrics.ts';

/** A call ends with a status of ours, or because its client has left or its deadline has passed: both CANCELLED here. */
export function countCalls(metrics: Metrics): ServerInterceptor {
  const durations = metrics.distribution({
    name: 'tidemark_grpc_call_seconds',
    help: 'gRPC calls by method and status, with their time; CANCELLED also when the deadline passed.',
    labels: ['method', 'code'],
  });
  let open = 0;
  metrics.gauge({ name: 'tidemark_grpc_open_calls', help: 'gRPC calls under way, streams included.' }, () => open);
  return ({ path }, nextCall) => {
    const startMs = performance.now();
    let isOpen = true;
    open += 1;
    return intercept(nextCall, (code) => {
      if (!isOpen) return;
      isOpen = false;
      open -= 1;
      durations({ method: path.slice(1), code: GrpcStatus[code] ?? 'UNKNOWN' }).observe(
        (performance.now() - startMs) / 1000,
      );
    });
  };
}

function intercept(nextCall: ServerInterceptingCallInterface, onEnd: (code: GrpcStatus) => void) {
  return new ServerInterceptingCall(nextCall, {
    start: (next) => next({ onCancel: () => onEnd(GrpcStatus.CANCELLED) }),
    sendStatus: (status, next) => {
      onEnd(status.code ?? GrpcStatus.UNKNOWN);
      next(status);
    },
  });
}
