/** Describes for a manager why an attempt failed, without revealing the service's internal network (R-I4). */
import { LookupError, NotPublicError } from './connect-guarded.ts';
import { MAX_HEADER_BYTES, type Reply, TimeOutError } from './exchange.ts';

const NOT_PUBLIC =
  'the host of the receiver has no address, or has a non-public address outside WEBHOOK_ALLOWED_RANGES';

// OpenSSL reports the same error for both faults.
const UNKNOWN_SIGNER =
  'the certificate of the receiver is not signed by a trusted authority, or the receiver does not send its intermediate certificates';

const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the receiver refused the connection',
  ECONNRESET: 'the receiver closed the connection without a response',
  EPIPE: 'the receiver closed the connection without a response',
  ETIMEDOUT: 'the receiver cannot be reached',
  ENETUNREACH: 'the receiver cannot be reached',
  EHOSTUNREACH: 'the receiver cannot be reached',
  EADDRNOTAVAIL: 'the receiver cannot be reached',
  HPE_HEADER_OVERFLOW: `the response headers exceed ${MAX_HEADER_BYTES / 1024} KiB`,
  CERT_HAS_EXPIRED: 'the certificate of the receiver or of its authority has expired',
  CERT_NOT_YET_VALID: 'the certificate of the receiver or of its authority is not valid yet',
  CERT_REVOKED: 'the certificate of the receiver was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the receiver is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the receiver is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate of the receiver is signed by an untrusted authority',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate of the receiver is signed by an untrusted authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_SIGNER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_SIGNER,
};

/**
 * Describes why an exchange failed (R-I4).
 * @param timeoutMs time-out of the exchange. If the exchange timed out, the reason names this time-out.
 * @returns the reason; undefined for a 2xx response without an error.
 */
export function describeFailure({ answer, error }: Reply, timeoutMs: number): string | undefined {
  if (answer) return error ? describeBroken(error, timeoutMs) : describeStatus(answer.status);
  return error ? describeError(error, timeoutMs) : undefined;
}

function describeStatus(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  const reason = status >= 300 && status < 400 ? ': redirects are not followed' : '';
  return `the receiver answered ${status}${reason}`;
}

function describeBroken(error: Error, timeoutMs: number): string {
  if (error instanceof TimeOutError) return `the response was incomplete after ${seconds(timeoutMs)}`;
  return codeOf(error).startsWith('HPE_') ? describeError(error, timeoutMs) : 'the receiver broke off its response';
}

function describeError(error: Error, timeoutMs: number): string {
  if (error instanceof TimeOutError) return `the receiver did not respond within ${seconds(timeoutMs)}`;
  if (error instanceof NotPublicError) return NOT_PUBLIC;
  if (error instanceof LookupError) return 'the host name of the receiver could not be resolved';
  const code = codeOf(error);
  return BY_CODE[code] ?? describeKind(code);
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : '';
}

function describeKind(code: string): string {
  if (code.startsWith('HPE_')) return 'the response of the receiver is not valid HTTP';
  if (/^(ERR_SSL|ERR_TLS|EPROTO)/.test(code)) return 'no TLS connection could be established with the receiver';
  if (/CERT|CRL/.test(code)) return 'the certificate of the receiver is not trusted';
  return 'the connection to the receiver failed';
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
