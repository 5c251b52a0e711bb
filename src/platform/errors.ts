/**
 * Error codes, and the HTTP and gRPC status of each (R-A5, R-J3). Clients see the message of a `DomainError`, but not
 * the message of any other error. An error that is not a `DomainError` has the status 503 if a dependency caused it,
 * otherwise usually 500.
 */
import { status as GrpcStatus } from '@grpc/grpc-js';

interface ErrorMapping {
  readonly http: 400 | 401 | 403 | 404 | 409 | 410 | 413 | 415 | 429 | 500 | 503;
  readonly grpc: number;
}

/** Codes of error answers. They are stable, because clients branch on them. */
export const ERROR_MAPPINGS = {
  invalid_input: { http: 400, grpc: GrpcStatus.INVALID_ARGUMENT },
  malformed_json: { http: 400, grpc: GrpcStatus.INVALID_ARGUMENT },
  api_version_unsupported: { http: 400, grpc: GrpcStatus.INVALID_ARGUMENT },
  invalid_token: { http: 401, grpc: GrpcStatus.UNAUTHENTICATED },
  insufficient_scope: { http: 403, grpc: GrpcStatus.PERMISSION_DENIED },
  permission_denied: { http: 403, grpc: GrpcStatus.PERMISSION_DENIED },
  mapping_failed: { http: 400, grpc: GrpcStatus.INVALID_ARGUMENT },
  not_found: { http: 404, grpc: GrpcStatus.NOT_FOUND },
  conflict: { http: 409, grpc: GrpcStatus.FAILED_PRECONDITION },
  calculation_cycle: { http: 409, grpc: GrpcStatus.FAILED_PRECONDITION },
  gone: { http: 410, grpc: GrpcStatus.UNIMPLEMENTED },
  body_too_large: { http: 413, grpc: GrpcStatus.RESOURCE_EXHAUSTED },
  unsupported_media_type: { http: 415, grpc: GrpcStatus.INVALID_ARGUMENT },
  rate_limited: { http: 429, grpc: GrpcStatus.RESOURCE_EXHAUSTED },
  internal_error: { http: 500, grpc: GrpcStatus.INTERNAL },
  queue_full: { http: 503, grpc: GrpcStatus.UNAVAILABLE },
  dependency_unavailable: { http: 503, grpc: GrpcStatus.UNAVAILABLE },
} as const satisfies Record<string, ErrorMapping>;

export type ErrorCode = keyof typeof ERROR_MAPPINGS;

/**
 * A problem with an input: the path of a value, such as `$[3].data[0].date` or `query.siteIds`, and the rule that the
 * value breaks.
 */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/** An expected failure. The client receives `message`, which names the subject, the rule and the wrong value. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  /** Seconds after which the client may try again; undefined when unknown. */
  readonly retryAfterSec: number | undefined;

  constructor(code: ErrorCode, message: string, details?: readonly ErrorDetail[], retryAfterSec?: number) {
    super(message);
    this.code = code;
    this.details = details;
    this.retryAfterSec = retryAfterSec;
  }
}

/**
 * Throws when a request must wait.
 * @param waitMs milliseconds to wait; 0 when the request may pass.
 * @param rule the limit, as a sentence of the error message.
 * @throws {DomainError} rate_limited (R-B15).
 */
export function assertRate(waitMs: number, rule: string): void {
  if (waitMs <= 0) return;
  const seconds = Math.ceil(waitMs / 1000);
  throw new DomainError('rate_limited', `${rule}; retry after ${seconds} s`, undefined, seconds);
}
