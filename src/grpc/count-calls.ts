/**
 * Counts and times gRPC calls by method and status (R-A9). The label `method` has few values, because the interceptor
 * sees only calls of methods that exist.
 */
import {
  status as GrpcStatus,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from '@grpc/grpc-js';
import type { Metrics } from '../platform/metrics/metrics.ts';

/**
 * @returns an interceptor that counts and times calls. A call counts as CANCELLED when its client left or its deadline
 *   passed (R-A9).
 */
export function countCalls(metrics: Metrics): ServerInterceptor {
  const durations = metrics.distribution({
    name: 'tidemark_grpc_call_seconds',
    help: 'Duration of gRPC calls by method and status; CANCELLED includes calls past their deadline.',
    labels: ['method', 'code'],
  });
  let open = 0;
  metrics.gauge({ name: 'tidemark_grpc_open_calls', help: 'Open gRPC calls, including streams.' }, () => open);
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
