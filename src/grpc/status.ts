/**
 * Maps errors to gRPC statuses (R-J3). `google.rpc.ErrorInfo` contains the error code of the REST interface,
 * `google.rpc.BadRequest` the problem of each field, and `google.rpc.RetryInfo` the time after which to try again.
 */
import { Metadata, type StatusObject } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import { isTransientError } from '../platform/database/dependency-error.ts';
import { DomainError, ERROR_MAPPINGS, type ErrorDetail } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';

const ERROR_DOMAIN = 'tidemark';

// The messages of google/rpc/status.proto and error_details.proto that are used here, and the parts of google.protobuf
// (Any, Duration) that they need.
const { root } = protobuf.parse(`syntax = "proto3"; package google.rpc;
  message Any { string type_url = 1; bytes value = 2; }
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
  message ErrorInfo { string reason = 1; string domain = 2; map<string, string> metadata = 3; }
  message FieldViolation { string field = 1; string description = 2; }
  message Duration { int64 seconds = 1; }
  message RetryInfo { Duration retry_delay = 1; }
  message BadRequest { repeated FieldViolation field_violations = 1; }`);
const Status = root.lookupType('google.rpc.Status');
const ErrorInfo = root.lookupType('google.rpc.ErrorInfo');
const RetryInfo = root.lookupType('google.rpc.RetryInfo');
const BadRequest = root.lookupType('google.rpc.BadRequest');

/** Converts an error to a gRPC status (R-J3). @param requestId id of the call; ErrorInfo contains it. */
export function toStatus(error: unknown, requestId: string, log: Log): Partial<StatusObject> {
  const { code: word, message, details: problems = [], retryAfterSec } = toDomainError(error, requestId, log);
  const code = ERROR_MAPPINGS[word].grpc;
  const details = [
    toAny('ErrorInfo', ErrorInfo.encode({ reason: word, domain: ERROR_DOMAIN, metadata: { requestId } })),
    ...(retryAfterSec === undefined
      ? []
      : [toAny('RetryInfo', RetryInfo.encode({ retryDelay: { seconds: retryAfterSec } }))]),
    ...(problems.length === 0 ? [] : [toAny('BadRequest', BadRequest.encode(toViolations(problems)))]),
  ];
  const metadata = new Metadata();
  metadata.set('grpc-status-details-bin', Buffer.from(Status.encode({ code, message, details }).finish()));
  return { code, details: message, metadata };
}

function toAny(type: string, message: protobuf.Writer): object {
  return { typeUrl: `type.googleapis.com/google.rpc.${type}`, value: message.finish() };
}

function toViolations(problems: readonly ErrorDetail[]): object {
  return { fieldViolations: problems.map(({ path, message }) => ({ field: path, description: message })) };
}

const DEPENDENCY_FAILED = 'a call failed because of a dependency (see err.cause); the client can repeat the call';

function toDomainError(error: unknown, requestId: string, log: Log): DomainError {
  if (error instanceof DomainError) {
    if (error.cause !== undefined) log.warn({ err: error, requestId }, DEPENDENCY_FAILED);
    return error;
  }
  if (isTransientError(error))
    return new DomainError(
      'dependency_unavailable',
      'a dependency of the service is unavailable, or the service is busy; retry later',
    );
  log.error({ err: error, requestId }, 'call failed');
  return new DomainError(
    'internal_error',
    `the service failed to process the call; quote the request id ${requestId} when you report this`,
  );
}
