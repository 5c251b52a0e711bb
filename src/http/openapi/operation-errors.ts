/** Which errors an operation can answer (R-A5): those of its doors, of its path, query and body, and its own. */
import { ERROR_MAPPINGS, type ErrorCode } from '../../platform/errors.ts';
import type { Operation } from '../../platform/openapi/operation.ts';

const EVERYWHERE: readonly ErrorCode[] = ['api_version_unsupported', 'internal_error', 'dependency_unavailable'];
const OF_CALLERS: readonly ErrorCode[] = ['invalid_token', 'insufficient_scope', 'permission_denied', 'rate_limited'];
const OF_BODIES: readonly ErrorCode[] = ['invalid_input', 'body_too_large', 'unsupported_media_type'];

/** Status → codes, both in order. */
export function findErrors(operation: Operation): ReadonlyMap<number, readonly ErrorCode[]> {
  const codes = new Set<ErrorCode>([
    ...EVERYWHERE,
    ...(operation.access.kind === 'caller' ? OF_CALLERS : []),
    ...(operation.path.includes('/:') ? (['not_found'] as const) : []),
    ...(operation.query ? (['invalid_input'] as const) : []),
    ...(operation.body ? OF_BODIES : []),
    ...(operation.body && 'application/json' in operation.body.types ? (['malformed_json'] as const) : []),
    ...(operation.errors ?? []),
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...codes].sort()) {
    const { http } = ERROR_MAPPINGS[code];
    byStatus.set(http, [...(byStatus.get(http) ?? []), code]);
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}
