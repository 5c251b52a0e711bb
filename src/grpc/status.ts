/**
 * Errors as gRPC statuses (R-J3): the code word of the REST interface in `google.rpc.ErrorInfo`, what is wrong with each
 * field in `google.rpc.BadRequest`.
 */
import { Metadata, type StatusObject } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import { isDependencyError } from '../platform/database/dependency-error.ts';
import { DomainError, ERROR_MAPPINGS, type ErrorDetail } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';

const ERROR_DOMAIN = 'tidemark';

// Well-known messages of google/rpc, by their published field numbers.
const { root } = protobuf.parse(`syntax = "proto3"; package google.rpc;
  message Any { string type_url = 1; bytes value = 2; }
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
  message ErrorInfo { string reason = 1; string domain = 2; map<string, string> metadata = 3; }
  message FieldViolation { string field = 1; string description = 2; }
  message BadRequest { repeated FieldViolation field_violations = 1; }`);
const Status = root.lookupType('google.rpc.Status');
const ErrorInfo = root.lookupType('google.rpc.ErrorInfo');
const BadRequest = root.lookupType('google.rpc.BadRequest');

/** @param requestId goes into the ErrorInfo, so that a reader can quote it. */
export function toStatus(error: unknown, requestId: string, log: Log): Partial<StatusObject> {
  const { code: word, message, details: problems = [] } = toDomainError(error, requestId, log);
  const code = ERROR_MAPPINGS[word].grpc;
  const details = [
    toAny('ErrorInfo', ErrorInfo.encode({ reason: word, domain: ERROR_DOMAIN, metadata: { requestId } })),
    ...(problems.length === 0 ? [] : [toAny('BadRequest', BadRequest.encode(toViolations(problems)))]),
  ];
  const metadata = new Metadata();
  metadata.set('grpc-status-details-bin', Buffer.from(Status.encode({ code, message, details }).finish()));
  return { code, details: message, metadata };
}

/** The type tells a client which of the details it has before it. */
function toAny(type: string, message: protobuf.Writer): object {
  return { typeUrl: `type.googleapis.com/google.rpc.${type}`, value: message.finish() };
}

function toViolations(problems: readonly ErrorDetail[]): object {
  return { fieldViolations: problems.map(({ path, message }) => ({ field: path, description: message })) };
}

function toDomainError(error: unknown, requestId: string, log: Log): DomainError {
  if (error instanceof DomainError) return error;
  if (isDependencyError(error)) return new DomainError('dependency_unavailable', 'a part of the service is down');
  log.error({ err: error, requestId }, 'call failed');
  return new DomainError('internal_error', 'something went wrong on our side');
}
